"""What a Go runtime of the same protocol (flexigpt/agentskills-go) promises, held against this one.

One test for each of its behaviours on bodies, sessions, expiry, unload, read, run, filters and files. Where our
requirements decide otherwise, the test's name says what is true here; docs/build/sessions.md lists the differences.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import pytest

from prowess.catalog import Catalog
from prowess.errors import SkillNotFoundError, UnavailableError
from prowess.format import reading
from prowess.runtime import Session
from prowess.store import MemorySessionStore, SessionRow
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.format import Skill

pytestmark = pytest.mark.anyio


async def _refused(session: Session, tool: str, **arguments: object) -> str:
    return str(failure(await session.call(tool, arguments))["code"])


# ── Body ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def read_count(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that were read as a skill, in order."""
    directories: list[str] = []
    real = reading.skill_of_files

    def counted(directory: Any, files: Any, **options: Any) -> Skill:  # noqa: ANN401 -- the signature of skill_of_files
        directories.append(os.path.basename(directory))
        return real(directory, files, **options)

    monkeypatch.setattr(reading, "skill_of_files", counted)
    return directories


async def test_many_simultaneous_requests_for_a_body_cause_one_read(session: Session, read_count: list[str]) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(session.load, ["alpha"])

    session.instructions()
    assert read_count == ["alpha"]


async def test_a_cancelled_request_leaves_the_others(session: Session) -> None:
    receipts: list[object] = []

    async def load() -> None:
        receipts.append(await session.load(["alpha"]))

    async with anyio.create_task_group() as others:
        others.start_soon(load)
        async with anyio.create_task_group() as cancelled:
            cancelled.start_soon(session.load, ["beta"])
            cancelled.start_soon(session.load, ["beta"])
            await anyio.lowlevel.checkpoint()
            cancelled.cancel_scope.cancel()
        others.start_soon(load)

    assert len(receipts) == 2
    assert [skill.name for skill in session.active_skills] == ["alpha"]


class _Removing(Catalog):
    """A catalog whose skill `alpha` is deleted by somebody at the moment it has been read."""

    def skill(self, name: str, location: str | None = None) -> Skill:
        found = super().skill(name, location)
        if name == "alpha":
            shutil.rmtree(found.root_dir)
        return found


async def test_a_skill_removed_while_it_is_loaded_is_not_found_by_anyone_who_waits(skills: Path) -> None:
    session = Session(_Removing(skills))
    codes: list[str] = []

    async def load() -> None:
        codes.append(await _refused(session, "skills.load", names=["alpha"]))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(load)

    assert codes == ["skill_not_found"] * 3
    assert session.active_skills == ()


async def test_a_body_that_fails_does_not_poison_others_or_itself(session: Session, skills: Path) -> None:
    path = skills / "gamma" / "SKILL.md"
    good = path.read_text()
    path.write_text("---\nname: gamma\n")

    assert await _refused(session, "skills.load", names=["gamma"]) == "skill_not_found"
    assert names(await session.load(["alpha"])) == ["alpha"]
    path.write_text(good)
    assert names(await session.load(["gamma"])) == ["gamma"]


# ── Session ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_session_with_initial_skills_checks_all_of_them_first(catalog: Catalog) -> None:
    store = MemorySessionStore()

    with pytest.raises(SkillNotFoundError):
        await Session.create(catalog, initial=["alpha", "nonsense"], store=store)

    assert await store.count() == 0


async def test_replace_sets_exactly_the_named_skills(session: Session) -> None:
    await session.load(["alpha", "beta"])

    assert names(await session.load(["gamma", "beta"], "replace")) == ["gamma", "beta"]


async def test_add_counts_a_repeated_skill_once_and_keeps_its_place(session: Session) -> None:
    await session.load(["alpha", "beta"])

    assert names(await session.load(["alpha", "gamma"], "add")) == ["alpha", "beta", "gamma"]


async def test_a_load_over_the_cap_fails_and_changes_nothing(catalog: Catalog) -> None:
    session = Session(catalog, cap=2)
    await session.load(["alpha", "beta"])

    assert await _refused(session, "skills.load", names=["gamma"], mode="add") == "limit_exceeded"
    assert await _refused(session, "skills.load", names=["alpha", "beta", "gamma"]) == "limit_exceeded"
    assert [skill.name for skill in session.active_skills] == ["alpha", "beta"]


async def test_one_bad_skill_in_a_batch_changes_nothing(session: Session) -> None:
    await session.load(["alpha"])

    assert await _refused(session, "skills.load", names=["beta", "nonsense"]) == "skill_not_found"
    assert [skill.name for skill in session.active_skills] == ["alpha"]


class _Contested(MemorySessionStore):
    lost = 0

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        self.lost -= 1
        return False if self.lost >= 0 else await super().replace(row, expected_version=expected_version)


async def test_a_concurrent_change_is_tried_again_then_reported(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.runtime.session_state._LONGEST_PAUSE", 0.0)
    store = _Contested()
    session = Session(catalog, store=store)
    store.lost = 3
    assert names(await session.load(["alpha"])) == ["alpha"]

    store.lost = 1000
    with pytest.raises(UnavailableError):
        await session.load(["beta"])


async def test_a_skill_removed_in_the_middle_of_its_activation_is_not_activated(skills: Path) -> None:
    session = Session(_Removing(skills))
    await session.load(["beta"])

    assert await _refused(session, "skills.load", names=["gamma", "alpha"]) == "skill_not_found"
    assert [skill.name for skill in session.active_skills] == ["beta"]


@pytest.mark.proves("runtime.registry.removal-prunes")
async def test_removal_from_the_catalog_prunes_every_session(catalog: Catalog, skills: Path) -> None:
    sessions = [Session(catalog) for _ in range(3)]
    for session in sessions:
        await session.load(["alpha", "beta"])

    shutil.rmtree(skills / "alpha")

    for session in sessions:
        await session.refresh()
        assert [skill.name for skill in session.active_skills] == ["beta"]


async def test_adding_a_removed_skill_again_does_not_activate_it(session: Session, skills: Path) -> None:
    await session.load(["alpha", "gamma"])
    shutil.rmtree(skills / "gamma")
    await session.refresh()
    write_skill(skills, "gamma")
    await session.refresh()

    assert [skill.name for skill in session.active_skills] == ["alpha"]
    assert await _refused(session, "skills.read", path="SKILL.md", skill="gamma") == "skill_not_active"


# ── Expiry ─────────────────────────────────────────────────────────────────────────────────────────────────

_FOUR_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("skills.load", {"names": ["alpha"]}),
    ("skills.unload", {"all": True}),
    ("skills.read", {"path": "SKILL.md"}),
    ("skills.run_script", {"path": "scripts/run.py"}),
)


async def test_an_idle_session_disappears_after_its_time_to_live(catalog: Catalog) -> None:
    now = [0.0]
    session = Session(catalog, ttl_seconds=10, clock=lambda: now[0])
    await session.load(["alpha"])
    now[0] = 10.5

    assert await _refused(session, "skills.read", path="SKILL.md") == "session_not_found"


@pytest.mark.parametrize(("tool", "arguments"), _FOUR_CALLS)
async def test_any_tool_call_postpones_the_expiry(catalog: Catalog, tool: str, arguments: dict[str, object]) -> None:
    now = [0.0]
    session = Session(catalog, ttl_seconds=10, clock=lambda: now[0])
    await session.load(["alpha"])
    for _ in range(5):
        now[0] += 9
        assert ((await session.call(tool, arguments)).error_detail or {}).get("code") != "session_not_found"

    assert names(await session.load(["beta"])) == ["beta"]


async def test_nothing_but_time_ends_a_session_however_many_there_are(catalog: Catalog) -> None:
    store = MemorySessionStore()
    first = Session(catalog, store=store)
    await first.load(["gamma"])

    for number in range(5000):
        await store.create(SessionRow(session_id=f"other-{number}", version=1, state="", touched_at=time.time()))
    await Session(catalog, store=store).load(["beta"])

    assert await store.count() == 5002
    assert result(await first.call("skills.read", {"path": "SKILL.md"}))["skill"] == "gamma"


@pytest.mark.parametrize(("tool", "arguments"), _FOUR_CALLS)
async def test_after_close_all_four_tools_find_no_session(
    session: Session, tool: str, arguments: dict[str, object]
) -> None:
    await session.load(["alpha"])
    await session.close()

    assert await _refused(session, tool, **arguments) == "session_not_found"


# ── Unload ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_unload_takes_a_subset(session: Session) -> None:
    await session.load(["alpha", "beta", "gamma"])

    assert names(await session.unload(["gamma", "alpha"])) == ["beta"]


async def test_unload_takes_all(session: Session) -> None:
    await session.load(["alpha", "beta"])

    assert names(await session.unload(all=True)) == []


async def test_unloading_an_unknown_name_is_an_error(session: Session) -> None:
    assert await _refused(session, "skills.unload", names=["nonsense"]) == "skill_not_found"


async def test_unloading_an_inactive_skill_does_nothing(session: Session) -> None:
    await session.load(["alpha"])

    assert names(await session.unload(["beta"])) == ["alpha"]


async def test_unloading_neither_names_nor_all_is_an_error(session: Session) -> None:
    assert await _refused(session, "skills.unload") == "invalid_arguments"


# ── Read ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_reading_an_inactive_skill_is_refused(session: Session) -> None:
    assert await _refused(session, "skills.read", path="SKILL.md", skill="alpha") == "skill_not_active"


async def test_reading_a_skill_whose_directory_has_vanished_is_not_found(session: Session, skills: Path) -> None:
    await session.load(["alpha"])
    shutil.rmtree(skills)

    assert await _refused(session, "skills.read", path="SKILL.md", skill="alpha") == "skill_not_found"


async def test_encoding_is_text_unless_said_otherwise(session: Session) -> None:
    await session.load(["alpha"])

    assert (await session.read("references/deep/note.txt")).encoding == "text"


async def test_an_unknown_encoding_is_refused(session: Session) -> None:
    await session.load(["alpha"])

    assert await _refused(session, "skills.read", path="SKILL.md", encoding="latin-1") == "invalid_arguments"


async def test_binary_is_returned_as_such(session: Session) -> None:
    await session.load(["alpha"])

    found = await session.read("assets/dot.png", encoding="binary")

    assert found.encoding == "binary"
    assert found.data_base64 == "iVBORw0KGgoA//4="


async def test_invalid_utf8_in_text_mode_is_refused_with_a_hint(session: Session) -> None:
    await session.load(["alpha"])

    detail = failure(await session.call("skills.read", {"path": "assets/dot.png"}))

    assert detail["code"] == "not_text"
    assert "binary" in detail["message"]


# ── Run ────────────────────────────────────────────────────────────────────────────────────────────────────

_SHOW = "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ.get('KEY'), os.getcwd()]))\n"


@pytest.fixture
async def runner(tmp_path: Path) -> Session:
    write_skill(
        tmp_path / "run",
        "runner",
        files={
            "scripts/show.py": _SHOW,
            "scripts/exit.sh": "exit 7\n",
            "scripts/wait.sh": "sleep 20\n",
            "scripts/x.rb": "puts 1\n",
        },
    )
    (tmp_path / "work" / "sub").mkdir(parents=True)
    session = Session(Catalog(tmp_path / "run"), workspace=tmp_path / "work")
    await session.load(["runner"])
    return session


async def test_running_a_script_of_an_inactive_skill_is_refused(runner: Session) -> None:
    await runner.unload(all=True)

    assert await _refused(runner, "skills.run_script", path="scripts/show.py") == "skill_not_active"


async def test_running_where_scripts_are_disabled_is_unsupported(skills: Path) -> None:
    session = Session(Catalog(skills), scripts=False)
    await session.load(["alpha"])

    assert await _refused(session, "skills.run_script", path="scripts/run.py") == "script_unsupported"


async def test_arguments_environment_and_working_directory_reach_the_script_unchanged(runner: Session) -> None:
    args = ["a b", "$x", "", "ü"]

    found = await runner.run_script("scripts/show.py", *args, env={"KEY": "v $x"}, workdir="sub")

    assert json.loads(found.stdout) == [args, "v $x", "/workspace/sub"]


async def test_an_extension_outside_the_list_is_refused(runner: Session) -> None:
    assert await _refused(runner, "skills.run_script", path="scripts/x.rb") == "script_unsupported"


async def test_a_timeout_is_flagged(runner: Session) -> None:
    assert (await runner.run_script("scripts/wait.sh", timeout=0.3)).timed_out is True


async def test_a_status_other_than_zero_is_a_result(runner: Session) -> None:
    assert (await runner.run_script("scripts/exit.sh")).exit_code == 7


# ── Filters ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_every_skill_is_listed_whether_active_or_not(session: Session) -> None:
    before = session.instructions()
    await session.load(["beta"])

    for text in (before, session.instructions()):
        assert [text.count(f"<name>{name}</name>") for name in ("alpha", "beta", "gamma")] == [1, 1, 1]


async def test_the_list_is_in_the_order_of_the_catalog_and_the_bodies_in_that_of_activation(session: Session) -> None:
    await session.load(["gamma", "alpha"])
    text = session.instructions()

    listed = [text.index(f"<name>{name}</name>") for name in ("alpha", "beta", "gamma")]
    active = [text.index(f'<skill name="{name}">') for name in ("gamma", "alpha")]
    assert listed + active == sorted(listed + active)


# ── Files ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_oversize_skill_file_is_refused(session: Session, skills: Path) -> None:
    write_skill(skills, "gamma", body="x" * (2 * 1024 * 1024))
    await session.refresh()

    assert await _refused(session, "skills.load", names=["gamma"]) == "skill_not_found"


async def test_a_skill_file_that_is_a_link_is_refused(session: Session, skills: Path) -> None:
    (skills / "linked").mkdir()
    (skills / "linked" / "SKILL.md").symlink_to("../gamma/SKILL.md")
    await session.refresh()

    assert await _refused(session, "skills.load", names=["linked"]) == "skill_not_found"


async def test_a_name_unlike_its_directory_is_loaded_and_reported(skills: Path) -> None:
    (skills / "gamma").rename(skills / "delta")
    catalog = Catalog(skills)
    session = Session(catalog)

    assert names(await session.load(["gamma"])) == ["gamma"]
    assert "name.matchesDirectory" in {fault.rule for fault in catalog.skill("gamma").diagnostics}


async def test_a_file_edited_after_it_was_listed_is_judged_again_when_it_is_loaded(
    session: Session, skills: Path
) -> None:
    session.instructions()
    write_skill(skills, "gamma", description="Newer.", body="Newer body.\n")

    receipt = await session.load(["gamma"])

    assert "Newer." in str(receipt.active_skills)
    assert "Newer body." in session.instructions()
    (skills / "gamma" / "SKILL.md").write_text("no longer a skill")
    assert await _refused(session, "skills.load", names=["gamma"]) == "skill_not_found"
