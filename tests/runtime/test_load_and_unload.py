from __future__ import annotations

import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from prowess._internal.files import file_mark
from prowess.audit import AuditRecord, JsonlAuditLog, read_tail
from prowess.catalog import Catalog
from prowess.errors import LimitExceededError, SkillNotFoundError
from prowess.runtime import Session
from prowess.runtime.activation.load_result import RECEIPT_SCHEMA
from prowess.runtime.disclosure import model_texts
from tests.runtime.making import codes, failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.audit import AuditEvent
    from prowess.runtime.options import Body

pytestmark = pytest.mark.anyio


async def _load(session: Session, *skills: str, **options: object) -> dict[str, Any]:
    return result(await session.call("skills.load", {"names": list(skills), **options}))


@pytest.mark.proves("runtime.load.names", "runtime.session.active-order", "runtime.session.single-name")
async def test_all_named_skills_become_active_in_the_order_given(session: Session) -> None:
    assert session.active_skill_name is None

    receipt = await _load(session, "gamma", "alpha")

    assert names(receipt) == ["gamma", "alpha"]
    assert [skill.name for skill in session.active_skills] == ["gamma", "alpha"]
    assert session.active_skill_name == "alpha"


@pytest.mark.proves("runtime.load.receipt", "runtime.load.receipt.properties", "runtime.load.receipt.digest")
async def test_the_receipt_has_location_root_digest_and_properties(session: Session, skills: Path) -> None:
    receipt = await _load(session, "alpha")

    (entry,) = receipt["active_skills"]
    assert list(receipt) == ["active_skills", "unloaded_skills", "notices"]
    assert list(entry) == ["name", "location", "root_dir", "digest", "properties", "allowed_tools_mode"]
    assert entry["location"] == str(skills / "alpha" / "SKILL.md")
    assert entry["root_dir"] == str(skills / "alpha")
    assert re.fullmatch("sha256:[0-9a-f]{64}", entry["digest"])
    assert entry["properties"] == {
        "name": "alpha",
        "description": "Does alpha.",
        "license": "MIT",
        "allowed-tools": "Read Bash(git:*)",
        "metadata": {"team": "core"},
    }
    json.dumps(receipt)
    jsonschema.validate(receipt, dict(RECEIPT_SCHEMA))


@pytest.mark.proves("runtime.load.receipt.digest", "runtime.session.digests")
@pytest.mark.parametrize("path", ["scripts/run.py", "references/deep/note.txt", "SKILL.md"])
async def test_the_digest_changes_with_any_file(session: Session, skills: Path, path: str) -> None:
    before = (await _load(session, "alpha"))["active_skills"][0]["digest"]
    assert session.active_skills[0].digest == before

    target = skills / "alpha" / path
    target.write_bytes(target.read_bytes() + b"\n")
    receipt = await _load(session, "alpha")

    assert receipt["active_skills"][0]["digest"] != before
    assert codes(receipt) == ["skill_reloaded"]


@pytest.mark.proves("runtime.session.digests", "runtime.load.receipt.digest")
async def test_a_tree_with_a_link_has_no_digest_and_says_why(session: Session, skills: Path) -> None:
    (skills / "beta" / "link").symlink_to("SKILL.md")

    receipt = await _load(session, "beta")

    assert receipt["active_skills"][0]["digest"] is None
    (notice,) = receipt["notices"]
    assert notice["code"] == "no_digest"
    assert "'link'" in notice["message"]
    assert notice["skill"] == "beta"
    assert result(await session.call("skills.read", {"path": "references/secret.md"}))["text"] == "beta's secret\n"


@pytest.mark.proves("runtime.load.mode.default", "runtime.load.replace", "runtime.load.receipt.unloaded")
async def test_a_load_without_mode_replaces(session: Session) -> None:
    await _load(session, "alpha", "beta")

    receipt = await _load(session, "gamma")

    assert names(receipt) == ["gamma"]
    assert receipt["unloaded_skills"] == ["alpha", "beta"]


@pytest.mark.proves("runtime.load.add", "runtime.load.add.order")
async def test_add_puts_new_skills_behind_and_keeps_the_places_of_the_others(session: Session) -> None:
    await _load(session, "alpha", "beta")

    receipt = await _load(session, "gamma", "alpha", mode="add")

    assert names(receipt) == ["alpha", "beta", "gamma"]
    assert receipt["unloaded_skills"] == []
    assert codes(receipt) == ["already_active"]


@pytest.mark.proves("runtime.load.names.duplicates")
async def test_a_name_given_twice_counts_once_at_its_first_position(session: Session) -> None:
    assert names(await _load(session, "beta", "alpha", "beta")) == ["beta", "alpha"]


@pytest.mark.proves("runtime.load.names.empty", "runtime.load.mode.invalid")
@pytest.mark.parametrize(
    "arguments", [{"names": []}, {"names": ["beta"], "mode": "append"}, {"names": ["beta"], "mode": ""}]
)
async def test_an_empty_list_or_an_unknown_mode_is_refused_and_changes_nothing(
    session: Session, arguments: dict[str, object]
) -> None:
    await _load(session, "alpha")

    detail = failure(await session.call("skills.load", arguments))

    assert detail["code"] == "invalid_arguments"
    assert [skill.name for skill in session.active_skills] == ["alpha"]


@pytest.mark.proves("runtime.tools.arguments")
async def test_every_wrong_argument_is_named(session: Session) -> None:
    detail = failure(await session.call("skills.load", {"mode": 3, "colour": "red"}))

    assert detail["code"] == "invalid_arguments"
    for part in ("Missing required parameter: names", "Unknown parameter: colour", "got integer (mode)"):
        assert part in detail["message"]


@pytest.mark.proves("runtime.session.cap", "runtime.load.cap")
async def test_a_load_over_the_cap_fails_and_says_how_many_are_allowed(catalog: Catalog) -> None:
    session = Session(catalog, cap=2)
    await _load(session, "alpha", "beta")

    for arguments in ({"names": ["gamma"], "mode": "add"}, {"names": ["alpha", "beta", "gamma"]}):
        detail = failure(await session.call("skills.load", arguments))
        assert detail["code"] == "limit_exceeded"
        assert "load fewer skills: at most 2" in detail["message"]
    assert [skill.name for skill in session.active_skills] == ["alpha", "beta"]


@pytest.mark.proves("runtime.session.cap")
async def test_the_default_cap_is_eight(tmp_path: Path) -> None:
    for number in range(9):
        write_skill(tmp_path, f"s{number}")
    session = Session(Catalog(tmp_path))

    assert len((await _load(session, *[f"s{n}" for n in range(8)]))["active_skills"]) == 8
    with pytest.raises(LimitExceededError, match="at most 8"):
        await session.load(["s8"], "add")


async def test_one_bad_name_in_a_batch_changes_nothing(session: Session) -> None:
    await _load(session, "alpha")

    detail = failure(await session.call("skills.load", {"names": ["beta", "Gamma"]}))

    assert detail["code"] == "skill_not_found"
    assert detail["suggestions"] == ["gamma"]
    assert [skill.name for skill in session.active_skills] == ["alpha"]


async def test_a_broken_skill_is_named_with_its_reason(session: Session, skills: Path) -> None:
    (skills / "broken").mkdir()
    (skills / "broken" / "SKILL.md").write_text("no front matter")

    with pytest.raises(SkillNotFoundError, match="broken"):
        await session.load(["broken"])


async def test_a_skill_that_appears_later_is_found_by_its_name(session: Session, skills: Path) -> None:
    await _load(session, "alpha")
    write_skill(skills, "delta")

    assert names(await _load(session, "delta")) == ["delta"]


@pytest.mark.proves("runtime.load.location")
async def test_a_location_picks_one_of_the_listed_copies_and_no_other_path(tmp_path: Path) -> None:
    first = write_skill(tmp_path / "one", "same", body="First.\n")
    second = write_skill(tmp_path / "two", "same", body="Second.\n")
    outside = write_skill(tmp_path / "three", "same")
    session = Session(Catalog(tmp_path / "one", tmp_path / "two"))

    assert (await _load(session, "same"))["active_skills"][0]["root_dir"] == str(first)
    location = str(second / "SKILL.md")
    receipt = await _load(session, "same", location=location)
    assert receipt["active_skills"][0]["location"] == location
    assert "Second." in session.instructions()

    for place in (str(outside / "SKILL.md"), "/etc/passwd", "../three/same/SKILL.md"):
        assert (
            failure(await session.call("skills.load", {"names": ["same"], "location": place}))["code"]
            == "skill_not_found"
        )
    both = {"names": ["same", "other"], "location": location}
    assert failure(await session.call("skills.load", both))["code"] == "invalid_arguments"


async def test_adding_a_name_keeps_the_copy_that_is_active(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", "same")
    second = write_skill(tmp_path / "two", "same")
    session = Session(Catalog(tmp_path / "one", tmp_path / "two"))
    await _load(session, "same", location=str(second / "SKILL.md"))

    receipt = await _load(session, "same", mode="add")

    assert receipt["active_skills"][0]["root_dir"] == str(second)
    assert codes(receipt) == ["other_copy_active"]
    assert (await _load(session, "same"))["active_skills"][0]["root_dir"] != str(second)


@pytest.mark.proves("runtime.load.location", "runtime.load.repeat")
async def test_copies_with_equal_bytes_are_different_skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load that is repeated is one of the same copy, also if the skills have been left alone for long."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))
    places = [str(write_skill(tmp_path / root, "same") / "SKILL.md") for root in ("one", "two")]
    session = Session(Catalog(tmp_path / "one", tmp_path / "two"))

    for place in (*places, *places):
        receipt = await _load(session, "same", location=place)
        assert receipt["active_skills"][0]["location"] == place
        assert "already_active" not in codes(receipt)
        assert codes(await _load(session, "same", location=place)) == ["already_active"]
    for _ in range(2):
        receipt = await _load(session, "same")
        assert receipt["active_skills"][0]["location"] == places[0]
    await _load(session, "same", location=places[1])
    for _ in range(2):
        kept = await _load(session, "same", mode="add")
        assert kept["active_skills"][0]["location"] == places[1]
        assert codes(kept)[0] == "other_copy_active"


@pytest.mark.proves("runtime.load.repeat")
async def test_loading_an_unchanged_skill_again_is_a_short_notice(catalog: Catalog) -> None:
    session = Session(catalog, body="result")
    first = await _load(session, "alpha")
    again = await _load(session, "alpha")

    assert first["active_skills"][0]["content"].startswith('<skill_content name="alpha" mark="')
    assert again["active_skills"][0]["content"] is None
    assert codes(again) == ["already_active"]
    jsonschema.validate(again, dict(RECEIPT_SCHEMA))


@pytest.mark.proves("client.parse.split")
@pytest.mark.parametrize("body", ["instructions", "result"])
async def test_what_is_loaded_is_the_body_behind_the_fence_without_the_blank_lines_around_it(
    tmp_path: Path, body: Body
) -> None:
    write_skill(tmp_path, "blanks", body=" \n\n  \t\n    code --- first\n\n---\n\nLast.  \n \n\n")
    write_skill(tmp_path, "nothing", body="\n \n\t\n")
    session = Session(Catalog(tmp_path), body=body)

    receipt = await _load(session, "blanks", "nothing")

    texts = {entry["name"]: entry.get("content") or session.instructions() for entry in receipt["active_skills"]}
    opened = '<skill_content name="{}" mark="[^"]*">' if body == "result" else '<skill name="{}">'
    assert re.search(opened.format("blanks") + "\n    code --- first\n\n---\n\nLast\\.\n[\n<]", texts["blanks"])
    assert re.search(opened.format("nothing") + "\n\n[\n<]", texts["nothing"])
    assert "description: Does" not in "".join(texts.values())
    document = session.catalog.skill("blanks").document
    assert (document.front_matter, document.body_line) == ("name: blanks\ndescription: Does blanks.\n", 5)


@pytest.mark.proves("runtime.prompt.tool-result-fallback")
async def test_with_body_result_the_load_carries_the_body_the_directory_and_the_files(
    catalog: Catalog, skills: Path
) -> None:
    session = Session(catalog, body="result")

    content = (await _load(session, "alpha"))["active_skills"][0]["content"]
    added = await _load(session, "beta", mode="add")

    assert "# Alpha\n\nRead [the guide]" in content
    assert str(skills / "alpha") in content
    assert "<file>references/guide.md</file>" in content
    assert "<file>SKILL.md</file>" not in content
    assert [entry["content"] is None for entry in added["active_skills"]] == [True, False]
    assert "# Alpha" not in session.instructions()
    assert "The result of skills.load contains" in session.instructions()


@pytest.mark.proves("runtime.registry.location.optional")
async def test_without_locations_no_path_of_this_machine_is_shown(catalog: Catalog, tmp_path: Path) -> None:
    session = Session(catalog, expose_location=False, body="result")

    receipt = await _load(session, "alpha")
    read = result(await session.call("skills.read", {"path": "references/guide.md"}))

    assert receipt["active_skills"][0]["location"] is None
    assert receipt["active_skills"][0]["root_dir"] is None
    assert str(tmp_path) not in json.dumps([receipt, read]) + session.instructions()
    assert read["text"].startswith("# Guide")
    jsonschema.validate(receipt, dict(RECEIPT_SCHEMA))


@pytest.mark.proves("runtime.unload.names", "runtime.unload.receipt")
async def test_unload_removes_the_named_skills_and_answers_with_a_receipt(session: Session) -> None:
    loaded = await _load(session, "alpha", "beta", "gamma")

    receipt = result(await session.call("skills.unload", {"names": ["beta"]}))

    assert names(receipt) == ["alpha", "gamma"]
    assert receipt["unloaded_skills"] == ["beta"]
    assert list(receipt) == list(loaded)
    assert receipt["active_skills"][0] == loaded["active_skills"][0]
    jsonschema.validate(receipt, dict(RECEIPT_SCHEMA))

    both = result(await session.call("skills.unload", {"names": ["gamma", "alpha"]}))

    assert (names(both), both["unloaded_skills"]) == ([], ["alpha", "gamma"])


@pytest.mark.proves("runtime.unload.all")
async def test_unload_all_empties_the_set_and_mentions_ignored_names(session: Session) -> None:
    await _load(session, "alpha", "beta")

    receipt = result(await session.call("skills.unload", {"all": True, "names": ["alpha", "nonsense"]}))

    assert names(receipt) == []
    assert receipt["unloaded_skills"] == ["alpha", "beta"]
    assert codes(receipt) == ["names_ignored"]
    assert names(result(await session.call("skills.unload", {"all": True}))) == []


@pytest.mark.proves("runtime.unload.inactive")
async def test_unloading_a_known_skill_that_is_not_active_changes_nothing(session: Session) -> None:
    await _load(session, "alpha")

    receipt = result(await session.call("skills.unload", {"names": ["beta"]}))

    assert (names(receipt), receipt["unloaded_skills"]) == (["alpha"], [])


@pytest.mark.proves("runtime.unload.unknown")
async def test_unloading_an_unknown_name_is_an_error_with_suggestions(session: Session) -> None:
    await _load(session, "alpha")

    detail = failure(await session.call("skills.unload", {"names": ["alpha", "betta"]}))

    assert (detail["code"], detail["suggestions"]) == ("skill_not_found", ["beta"])
    assert [skill.name for skill in session.active_skills] == ["alpha"]


@pytest.mark.proves("runtime.unload.neither")
@pytest.mark.parametrize("arguments", [{}, {"names": []}, {"all": False}])
async def test_an_unload_without_names_and_without_all_is_refused(
    session: Session, arguments: dict[str, object]
) -> None:
    await _load(session, "alpha")

    assert failure(await session.call("skills.unload", arguments))["code"] == "invalid_arguments"
    assert [skill.name for skill in session.active_skills] == ["alpha"]


async def test_a_skill_removed_from_disk_can_be_unloaded_and_is_mentioned(session: Session, skills: Path) -> None:
    await _load(session, "alpha", "gamma")
    (skills / "gamma" / "SKILL.md").unlink()

    receipt = result(await session.call("skills.unload", {"names": ["gamma"]}))

    assert names(receipt) == ["alpha"]
    assert codes(receipt) == ["skill_removed"]


@pytest.mark.proves("client.audit.activations")
async def test_loads_and_unloads_leave_records_with_digests(catalog: Catalog, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    session = Session(catalog, audit=JsonlAuditLog(str(log), fsync="second"))

    await session.call("skills.load", {"names": ["alpha"]}, "call-1")
    await session.call("skills.load", {"names": ["alpha"]}, "call-2")
    await session.call("skills.unload", {"all": True}, "call-3")

    records = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [(record["kind"], record["call_id"]) for record in records if record["kind"].startswith("skill.")]
    assert kinds == [("skill.loaded", "call-1"), ("skill.unloaded", "call-3")]
    assert {record["session_id"] for record in records} == {session.session_id}
    loaded = next(record for record in records if record["kind"] == "skill.loaded")
    assert loaded["data"]["digest"].startswith("sha256:")
    assert loaded["data"]["skill"] == "alpha"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", loaded["at"])


class _Forgetful:
    """A log of a host's own that cannot take one kind of record, and fails in its own way."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def append(self, event: AuditEvent) -> AuditRecord:
        if event.kind == self._kind:
            raise ConnectionError("secret")
        return AuditRecord(sequence=1, at="", kind="", session_id=None, call_id=None, data={}, previous=None, hash="")


@pytest.mark.parametrize(
    ("tool", "kind"), [("skills.load", "skill.loaded"), ("skills.unload", "skill.unloaded")], ids=["load", "unload"]
)
async def test_a_change_that_could_not_be_recorded_is_said_to_have_happened(
    catalog: Catalog, tool: str, kind: str
) -> None:
    session = Session(catalog, audit=_Forgetful(kind))
    await session.call("skills.load", {"names": ["alpha"]})
    detail = failure(await session.call(tool, {"names": ["alpha" if kind == "skill.unloaded" else "beta"]}))

    assert detail["code"] == "unavailable"
    assert "The tool did run" in detail["message"]
    assert "secret" not in detail["message"]


async def test_identifiers_that_no_record_could_hold_change_nothing(catalog: Catalog, tmp_path: Path) -> None:
    log = JsonlAuditLog(tmp_path / "audit" / "audit.jsonl", "second")
    session = Session(catalog, audit=log)
    for call_id in ("\ud800", "i" * 4 * 1024 * 1024):
        assert (await session.call("skills.load", {"names": ["alpha"]}, call_id)).success
        assert (await session.call("skills.unload", {"all": True}, call_id)).success

    records = [record for record in read_tail(log.path, 100) if record is not None]
    assert [record.kind for record in records] == [
        kind for change in ("skill.loaded", "skill.unloaded") * 2 for kind in ("tool.started", change, "tool.finished")
    ]
    assert len({record.call_id for record in records}) == 2


@pytest.mark.unmeasured  # coverage makes it several times slower
async def test_a_body_made_to_be_slow_is_loaded_within_a_second_of_computing(tmp_path: Path) -> None:
    write_skill(tmp_path, "slow", body="<" + " " * 1_000_000 + "\n")
    session = Session(Catalog(tmp_path), body="result")

    begun = time.process_time()
    receipt = await _load(session, "slow")

    assert receipt["active_skills"][0]["content"] is not None
    assert time.process_time() - begun < 1


async def test_the_loop_is_free_while_a_large_body_is_made_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path, "one")
    session = Session(Catalog(tmp_path), body="result")
    threads: list[str] = []
    before = model_texts.skill_content

    def noting(*arguments: Any, **named: Any) -> str:  # noqa: ANN401 -- handed on
        threads.append(threading.current_thread().name)
        return before(*arguments, **named)

    monkeypatch.setattr(model_texts, "skill_content", noting)
    await _load(session, "one")

    assert threads
    assert threading.main_thread().name not in threads
