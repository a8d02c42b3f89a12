from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, PolicyDeniedError, SkillNotFoundError
from prowess.policy import Policy, read_policy_file
from prowess.runtime import Session, SyncSession
from prowess.runtime.json_lines import answer
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

HIDDEN = "disable-model-invocation: true\n"
NOT_FOR_PEOPLE = "user-invocable: false\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "mixed"
    write_skill(root, "deploy", extra=HIDDEN, files={"notes.md": "n\n"})
    write_skill(root, "deploy-check")
    write_skill(root, "background", extra=NOT_FOR_PEOPLE)
    return root


@pytest.fixture
def session(mixed: Path) -> Session:
    return Session(Catalog(mixed))


def _all_that_a_model_sees(session: Session) -> str:
    seen = [session.instructions(exposure=face) for face in ("tools", "skill", "files")]
    for face in ("tools", "skill", "files"):
        seen += [json.dumps(session.tools("mcp", exposure=face))]
    return "\n".join(seen)


@pytest.mark.proves("client.catalog.filter", "client.catalog.hidden")
async def test_a_skill_closed_to_the_model_is_in_nothing_that_the_model_sees(session: Session) -> None:
    seen = _all_that_a_model_sees(session)
    assert "deploy-check" in seen
    assert "background" in seen
    assert "deploy" not in seen.replace("deploy-check", "")
    for tool, arguments in (("skills.load", {"names": ["deploy-chek"]}), ("skill", {"skill": "deploy-chek"})):
        assert failure(await session.call(tool, arguments))["suggestions"] == ["deploy-check"]


@pytest.mark.proves("client.catalog.filter", "governance.policy.explains")
async def test_a_skill_that_a_policy_denies_is_offered_to_nobody_and_a_call_hears_the_rule(
    mixed: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.toml"
    rule = '[[rule]]\neffect = "deny"\ntool = "skills.load"\nmatch = { names = "deploy*" }\nreason = "not here"\n'
    file.write_text(f'default = "allow"\n{rule}')
    session = Session(Catalog(mixed), policy=Policy(files=(read_policy_file(str(file)),)))
    seen = _all_that_a_model_sees(session)
    assert "background" in seen
    assert "deploy" not in seen
    assert session.completions("/") == ()
    calls = ("skills.load", {"names": [" deploy-check "]}), ("skill", {"skill": "deploy-check"})
    for tool, arguments in calls:
        error = failure(await session.call(tool, arguments))
        assert (error["code"], error["message"]) == ("policy_denied", f"denied by {file}:2: not here")
    with pytest.raises(PolicyDeniedError, match="not here"):
        await session.invoke("/deploy-check now")
    assert session.active_skills == ()


@pytest.mark.parametrize("name", ["deploy", " deploy ", "background-job"])
async def test_a_model_cannot_tell_a_hidden_skill_from_none(mixed: Path, tmp_path: Path, name: str) -> None:
    without = tmp_path / "without"
    for listed in ("deploy-check", "background"):
        write_skill(without, listed)
    calls: list[tuple[str, dict[str, object]]] = [
        ("skills.load", {"names": [name]}),
        ("skills.load", {"names": ["deploy-check", name], "mode": "add"}),
        ("skills.load", {"names": [name], "location": "/nowhere/SKILL.md"}),
        ("skills.unload", {"names": [name]}),
        ("skill", {"skill": name}),
        ("skills.read", {"skill": name, "path": "notes.md"}),
        ("skills.run_script", {"skill": name, "path": "scripts/x.py"}),
    ]
    for tool, arguments in calls:
        told = [failure(await Session(Catalog(root)).call(tool, arguments)) for root in (mixed, without)]
        assert told[0] == told[1], tool
        assert told[0]["code"] == "skill_not_found"


@pytest.mark.proves("runtime.activate.flags")
async def test_a_skill_closed_to_the_model_is_refused_on_every_path_of_the_model(session: Session) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("skills.load", {"names": ["deploy"]}),
        ("skills_load", {"names": ["deploy-check", "deploy"]}),
        ("skill", {"skill": "deploy"}),
        ("skill", {"skill_name": "deploy", "args": "x"}),
        ("skills.read", {"skill": "deploy", "path": "notes.md"}),
        ("skills.run_script", {"skill": "deploy", "path": "scripts/x.py"}),
    ]
    for tool, arguments in calls:
        assert failure(await session.call(tool, arguments))["code"] == "skill_not_found", tool
    assert failure(await session.call("skills.invoke", {"skill": "deploy"}))["code"] == "tool_not_found"
    assert session.active_skills == ()


@pytest.mark.proves("runtime.activate.flags", "client.activation.by-user")
async def test_a_user_starts_what_is_hidden_from_the_model_and_not_what_is_closed_to_people(session: Session) -> None:
    assert session.completions("/dep") == ("deploy", "deploy-check")
    started = await session.invoke("deploy")
    assert started.skill_name == "deploy"
    assert "Body of deploy." in str(started.content)
    assert result(await session.call("skills.read", {"skill": "deploy", "path": "notes.md"}))["text"] == "n\n"
    assert "Body of deploy." in session.instructions()

    with pytest.raises(InvalidArgumentsError, match="user-invocable: false"):
        await session.invoke("background")
    assert [skill.name for skill in session.active_skills] == ["deploy"]
    with pytest.raises(SkillNotFoundError) as caught:
        await session.invoke("deploy-chek")
    assert caught.value.suggestions == ("deploy-check", "deploy")
    await session.load(["background"])


@pytest.mark.proves("runtime.activate.explicit")
@pytest.mark.parametrize(
    ("typed", "args", "expected"),
    [
        ("/deploy", None, None),
        ("/deploy to  production", None, "to  production"),
        (" $deploy now ", None, "now"),
        ("deploy", "", ""),
        ("/deploy a", "b", "b"),
    ],
)
async def test_a_user_types_a_slash_a_name_and_arguments(
    mixed: Path, typed: str, args: str | None, expected: str | None
) -> None:
    session = Session(Catalog(mixed))
    started = await session.invoke(typed, args)
    assert started.skill_name == "deploy"
    assert started.args == expected


async def test_names_for_people_are_completed(session: Session) -> None:
    assert session.completions() == ("deploy", "deploy-check")
    assert session.completions("/deploy-") == ("deploy-check",)
    assert session.completions("b") == ()


async def test_a_value_that_is_neither_true_nor_false_closes(tmp_path: Path) -> None:
    write_skill(tmp_path, "odd", extra="disable-model-invocation: ja\nuser-invocable: nein\n")
    session = Session(Catalog(tmp_path))
    assert failure(await session.call("skills.load", {"names": ["odd"]}))["code"] == "skill_not_found"
    with pytest.raises(InvalidArgumentsError):
        await session.invoke("odd")


@pytest.mark.proves("client.catalog.empty")
async def test_without_an_open_skill_there_is_no_list_no_rule_and_no_tool(tmp_path: Path) -> None:
    write_skill(tmp_path, "deploy", extra=HIDDEN)
    session = Session(Catalog(tmp_path))
    for face in ("tools", "skill", "files"):
        assert session.tools(exposure=face) == ()
        assert session.instructions(exposure=face) == ""
    await session.invoke("deploy")
    assert [spec.name for spec in session.tools()][:3] == ["skills.load", "skills.unload", "skills.read"]
    assert session.tools(exposure="skill")[0].name == "skills.unload"


async def test_an_edit_of_a_flag_counts_at_the_next_call(session: Session, mixed: Path) -> None:
    write_skill(mixed, "deploy-check", extra=HIDDEN)
    assert failure(await session.call("skills.load", {"names": ["deploy-check"]}))["code"] == "skill_not_found"
    write_skill(mixed, "deploy-check")
    await session.load(["deploy-check"])


def test_a_host_in_another_language_has_the_users_way_and_the_exposures(mixed: Path) -> None:
    with SyncSession(Catalog(mixed)) as session:

        def ask(method: str, **arguments: object) -> dict[str, object]:
            line = json.dumps({"id": 1, "method": method, "arguments": arguments}).encode()
            value: dict[str, object] = json.loads(answer(session, line))
            return value

        started = ask("invoke", skill="/deploy prod")
        assert isinstance(started["result"], dict)
        assert started["result"]["args"] == "prod"
        assert "user-invocable" in str(ask("invoke", skill="background")["error"])
        assert "Missing required parameter: skill" in str(ask("invoke")["error"])
        assert "Unknown parameter: names" in str(ask("close", names=[])["error"])
        shaped = ask("tools", shape="openai-chat", exposure="skill")["result"]
        assert isinstance(shaped, dict)
        assert shaped["tools"][0]["function"]["name"] == "skill"
        assert "expected one of 'tools', 'skill', 'files'" in str(ask("tools", exposure="hands")["error"])
        told = ask("instructions", exposure="files", navigation=True, tool_system=True)["result"]
        assert isinstance(told, dict)
        assert list(told["tokens"])[:2] == ["tool_system", "navigation"]
