"""The list of skills within its budget: what it shows, what it leaves out, and `skills.list` for the rest."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog import Catalog
from prowess.errors import SkillNotFoundError
from prowess.runtime import Session, SyncSession
from prowess.runtime.disclosure.model_texts import DEFAULT_BUDGET
from prowess.runtime.forks import ForkOutcome, ForkRequest
from prowess.runtime.json_lines import serve_json_lines
from prowess.store import SqliteSessionStore
from prowess.tools.shapes import SHAPES
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.runtime.call_options import ExposureName
    from prowess.tools import ToolSpec

pytestmark = [pytest.mark.anyio, pytest.mark.unmeasured]

_COUNT = 300
_DENY_WHALES = 'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.load"\nmatch = { names = "whale*" }\n'
_BUDGET = 600  # tokens; the names of 300 skills need more
_EXPOSURES: tuple[ExposureName, ...] = ("tools", "skill", "files")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Return 300 skills; one sings, one has a high priority."""
    root = tmp_path.resolve() / "skills"
    for number in range(_COUNT - 2):
        write_skill(root, f"skill-{number:03}", description=f"Handles case {number} of a long list of cases. " * 3)
    write_skill(root, "whale-song", description="Sings the songs of whales.")
    write_skill(root, "zebra", description="Counts zebras.", extra="priority: 7\n")
    return root


@pytest.fixture
def session(skills: Path) -> Session:
    return Session(Catalog(skills), expose_location=True)


def _put(file: Path, text: str | None) -> None:
    if text is None:
        file.unlink()
    else:
        file.write_text(text, encoding="utf-8")


def _listed(text: str) -> list[str]:
    return re.findall(r"<name>([^<]*)</name>", text)


def _skill_tool(specs: tuple[ToolSpec, ...]) -> ToolSpec:
    return next(spec for spec in specs if spec.name == "skill")


def _in_tool(spec: ToolSpec) -> list[str]:
    return re.findall(r'^"([^"]+)": ', spec.description.partition("<available_skills>")[2], re.MULTILINE)


def _list(session: Session, exposure: ExposureName = "tools", **options: Any) -> list[str]:  # noqa: ANN401 -- options of a call
    if exposure == "skill":
        return _in_tool(_skill_tool(session.tools(exposure="skill", budget=_BUDGET, **options)))
    return _listed(session.instructions(_BUDGET, exposure=exposure, **options))


@pytest.mark.proves("catalog.list.budget")
@pytest.mark.parametrize("budget", [0, 30, 100, _BUDGET, 3000])
@pytest.mark.parametrize("exposure", _EXPOSURES)
def test_no_list_exceeds_its_budget_and_each_tells_the_number_left_out(
    session: Session, exposure: ExposureName, budget: int
) -> None:
    if exposure == "skill":
        description = _skill_tool(session.tools(exposure="skill", budget=budget)).description
        text = description.partition("<available_skills>\n")[2].partition("</available_skills>")[0]
        shown = len(_in_tool(_skill_tool(session.tools(exposure="skill", budget=budget))))
    else:
        disclosed = session.disclose(budget, exposure=exposure)
        text = disclosed.text[disclosed.text.find("<available_skills>") :] if "<available" in disclosed.text else ""
        shown = len(_listed(text))
        assert disclosed.left_out == _COUNT - shown
        assert disclosed.tokens["available"] <= budget
    assert len(text) <= budget * 4
    assert (f"and {_COUNT - shown} more; skills.list" in text) == (shown < _COUNT and budget > 0)
    assert 0 < shown < _COUNT or budget < 100 or (exposure, budget) == ("skill", 3000)


@pytest.mark.proves("catalog.list.query")
@pytest.mark.parametrize("exposure", _EXPOSURES)
@pytest.mark.parametrize("shape", [None, *SHAPES])
async def test_every_exposure_and_shape_offers_the_search_if_skills_are_left_out(
    session: Session, skills: Path, exposure: ExposureName, shape: str | None
) -> None:
    def offers(over: Session) -> bool:
        if shape is None:
            return "skills.list" in [spec.name for spec in over.tools(exposure=exposure, budget=_BUDGET)]
        return '"skills_list"' in json.dumps(over.tools(shape, exposure=exposure, budget=_BUDGET))

    assert offers(session)
    found = result(await session.call("skills_list", {"query": "songs of whales"}))
    assert [skill["name"] for skill in found["skills"]] == ["whale-song"]

    few = write_skill(skills.parent / "few", "alone").parent
    assert not offers(Session(Catalog(few)))


@pytest.mark.proves("catalog.list.query")
def test_the_search_is_offered_too_if_only_descriptions_are_cut(session: Session) -> None:
    found = session.disclose(13_000)
    assert (found.left_out, len(found.shortened) > 200) == (0, True)
    assert "skills.list" in [spec.name for spec in session.tools(budget=13_000)]
    assert "skills.list" not in [spec.name for spec in session.tools(budget=100_000)]


@pytest.mark.parametrize("exposure", _EXPOSURES)
async def test_a_list_prefers_the_task_then_use_then_priority_then_the_name(
    session: Session, exposure: ExposureName
) -> None:
    first = _list(session, exposure)
    assert (first[:2], first[-1]) == (["skill-000", "skill-001"], "zebra")
    assert first == sorted(first)

    await session.load(["skill-290"])
    await session.load(["skill-280"])
    used = _list(session, exposure)
    assert {"skill-280", "skill-290", "zebra"} <= set(used)
    assert used == sorted(used)

    fitting = _list(session, exposure, task="sing the songs of whales")
    assert (fitting[0], "whale-song" in used) == ("whale-song", False)
    assert fitting[1:4] == ["skill-280", "skill-290", "zebra"]


async def test_use_is_known_to_another_process_that_continues_the_session(skills: Path, tmp_path: Path) -> None:
    store = SqliteSessionStore(tmp_path / "sessions.db")
    one = Session(Catalog(skills), store=store, session_id="s")
    await one.load(["skill-290"])
    await one.unload(all=True)
    other = Session(Catalog(skills), store=SqliteSessionStore(tmp_path / "sessions.db"), session_id="s")
    await other.refresh()
    assert "skill-290" in _list(other)


def test_a_list_that_fits_is_the_same_with_and_without_a_task(tmp_path: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        write_skill(tmp_path, name)
    session = Session(Catalog(tmp_path))
    assert session.instructions(task="gamma") == session.instructions()
    assert session.tools(exposure="skill", task="gamma") == session.tools(exposure="skill")


@pytest.mark.proves("client.activation.enum")
async def test_beyond_the_budget_any_name_is_accepted_and_an_unknown_one_gets_suggestions(session: Session) -> None:
    spec = _skill_tool(session.tools(exposure="skill", budget=_BUDGET))
    assert "enum" not in str(spec.input_schema["properties"])
    assert "skill-250" not in spec.description
    assert result(await session.call("skill", {"skill": "skill-250"}))["skill_name"] == "skill-250"
    assert failure(await session.call("skill", {"skill": "whale-sing"}))["suggestions"] == ["whale-song"]
    assert failure(await session.call("skill", {"skill": "songs of whales"}))["suggestions"] == ["whale-song"]


@pytest.fixture
def user_file() -> Path:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / "policy.toml"


@pytest.mark.parametrize("exposure", _EXPOSURES)
async def test_a_skill_that_a_new_rule_denies_is_in_no_list_from_the_next_call_on(
    session: Session, user_file: Path, exposure: ExposureName
) -> None:
    task = {"task": "sing the songs of whales"}
    assert _list(session, exposure, **task)[0] == "whale-song"
    assert result(await session.call("skills.list", {"query": "songs of whales"}))["skills"]

    _put(user_file, _DENY_WHALES)

    assert "whale-song" not in _list(session, exposure, **task)
    assert "whale-song" not in session.instructions(compact="sing the songs of whales")
    assert result(await session.call("skills.list", {"query": "songs of whales"}))["skills"] == []
    names = [skill["name"] for page in [page async for page in _pages(session)] for skill in page]
    assert (len(names), "whale-song" in names) == (_COUNT - 1, False)
    assert failure(await session.call("skills.load", {"names": ["songs of whales"]}))["suggestions"] == []

    _put(user_file, None)
    assert _list(session, exposure, **task)[0] == "whale-song"


async def test_a_skill_that_is_closed_to_models_later_leaves_every_list(session: Session, skills: Path) -> None:
    assert "skill-000" in _list(session)
    write_skill(skills, "skill-000", extra="disable-model-invocation: true\n")
    assert "skill-000" not in _list(session)
    assert "skill-000" not in _list(session, "skill")
    first = result(await session.call("skills.list", {"limit": 1}))
    assert [skill["name"] for skill in first["skills"]] == ["skill-001"]


@pytest.mark.parametrize("sync", [False, True])
def test_every_edit_is_in_the_list_at_once_if_shown_and_after_some_calls_if_not(skills: Path, *, sync: bool) -> None:
    with SyncSession(Catalog(skills)) as blocking:
        session = blocking if sync else Session(blocking.catalog)
        assert "whale-song" not in _listed(session.instructions(_BUDGET))
        write_skill(skills, "skill-000", description="Edited now.")
        assert "Edited now." in session.instructions(_BUDGET)
        write_skill(skills, "aardvark", description="New here.")
        assert "aardvark" in _listed(session.instructions(_BUDGET))
        write_skill(skills, "whale-song", description="Sings.", extra="priority: 9\n")
        calls = next(n for n in range(20) if "whale-song" in _listed(session.instructions(_BUDGET)))
        assert calls <= 5
        (skills / "whale-song" / "SKILL.md").unlink()
        assert "whale-song" not in _listed(session.instructions(_BUDGET))


async def _pages(session: Session, **arguments: object) -> Any:  # noqa: ANN401 -- an async generator of JSON
    cursor: str | None = None
    while True:
        answer = await session.call("skills.list", arguments | ({} if cursor is None else {"cursor": cursor}))
        page = result(answer)
        assert len(json.dumps(dict(page))) <= DEFAULT_BUDGET * 4
        yield page["skills"]
        cursor = page["next_cursor"]
        assert (cursor is None) == (page["left_out"] == 0)
        if cursor is None:
            return


@pytest.mark.proves("catalog.list.budget")
async def test_no_page_of_the_search_exceeds_the_budget_and_the_pages_hold_every_skill_once(tmp_path: Path) -> None:
    for number in range(60):
        write_skill(tmp_path, f"long-{number:02}", description="A very long text about it. " * 60)
    session = Session(Catalog(tmp_path))
    for arguments in ({}, {"limit": 50}, {"limit": 7}, {"query": "long text"}, {"query": "long text", "limit": 9}):
        pages = [page async for page in _pages(session, **arguments)]
        assert sorted(skill["name"] for page in pages for skill in page) == [f"long-{n:02}" for n in range(60)]
        assert max(map(len, pages)) <= min(arguments.get("limit", 50), 15)  # type: ignore[call-overload]  # a number
    longest = max(len(skill["description"]) for page in pages for skill in page)
    assert longest == 1024


async def test_a_cursor_is_good_for_the_list_that_it_came_from_only(session: Session) -> None:
    by_name = result(await session.call("skills.list", {"limit": 2}))["next_cursor"]
    by_match = result(await session.call("skills.list", {"query": "long list of cases", "limit": 2}))["next_cursor"]
    wrong: Iterator[dict[str, str]] = iter(({"cursor": by_match}, {"query": "cases", "cursor": by_name}))
    for arguments in wrong:
        assert failure(await session.call("skills.list", arguments))["code"] == "invalid_arguments"
    for limit in (0, 51):
        assert failure(await session.call("skills.list", {"limit": limit}))["code"] == "invalid_arguments"


class _Runner:
    async def run(self, request: ForkRequest) -> ForkOutcome:
        del request
        return ForkOutcome(output="done", turns=1)


async def test_names_of_sub_agents_are_within_the_budget_too(tmp_path: Path) -> None:
    for number in range(400):
        write_skill(tmp_path, f"sub-agent-number-{number:03}", extra="context: fork\n")

    session = Session(Catalog(tmp_path), fork_runner=_Runner())
    found = session.disclose(500)
    told = found.text.partition("cannot be loaded: ")[2].partition("\n")[0]
    assert found.tokens["available"] + len(told) / 4 <= 500
    assert (found.left_out > 350, told.count("sub-agent-number")) == (True, 400 - found.left_out)
    assert "enum" not in str(_skill_tool(session.tools(budget=500)).input_schema["properties"])

    assert "sub-agent-number-399" not in found.text
    assert result(await session.call("skill", {"skill": "sub-agent-number-399"}))["output"] == "done"
    assert "<name>sub-agent-number-399</name>" in session.instructions(500)


@pytest.mark.proves("catalog.list.budget", "catalog.list.query")
def test_json_lines_keep_the_budget_and_take_a_task(skills: Path) -> None:
    lines = [
        {"id": 1, "method": "instructions", "arguments": {"budget": _BUDGET, "task": "sing the songs of whales"}},
        {"id": 2, "method": "tools", "arguments": {"budget": _BUDGET, "exposure": "skill", "task": "songs of whales"}},
        {"id": 3, "tool": "skills.list", "arguments": {"query": "songs of whales"}},
    ]
    written: list[dict[str, Any]] = []
    source = io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())
    with SyncSession(skills) as session:
        serve_json_lines(session, source.readline, lambda line: written.append(json.loads(line)))
    told, tools, found = (answer["result"] for answer in written)
    shown = _listed(told["instructions"])
    assert (shown[0], told["left_out"], told["over_budget"]) == ("whale-song", _COUNT - len(shown), True)
    assert told["tokens"]["available"] <= _BUDGET
    assert [tool["name"] for tool in tools["tools"]] == ["skill", "skills.list"]
    assert '<available_skills>\n"whale-song": ' in tools["tools"][0]["description"]
    assert [skill["name"] for skill in found["skills"]] == ["whale-song"]


def test_a_hidden_skill_is_no_suggestion_for_a_phrase(skills: Path) -> None:
    write_skill(
        skills, "whale-song", description="Sings the songs of whales.", extra="disable-model-invocation: true\n"
    )
    with SyncSession(Catalog(skills)) as session, pytest.raises(SkillNotFoundError) as caught:
        session.load(["songs of whales"])
    assert "whale-song" not in caught.value.suggestions
