"""`plugin/name` beside `name@plugin`: in every command and tool that takes a name, looked up and never a path."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session
from prowess.catalog.project import plugin_sources
from prowess.cli.dispatch import run
from prowess.errors import SkillNotFoundError
from prowess.mcp_server.served_session import ServedSession
from prowess.policy import PolicyInForce
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PLUGINS = ("globex", "acme")  # acme wins


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for label in PLUGINS:
        write_skill(
            tmp_path / label / "skills",
            "deploy",
            description=f"Of {label}.",
            body=f"Body of {label}.\n",
            files={"scripts/who.py": f"print('{label}')\n", "notes.md": f"Notes of {label}.\n"},
        )
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return [str(tmp_path / label) for label in PLUGINS]


def _catalog(plugins: Sequence[str]) -> Catalog:
    return Catalog(*plugin_sources(plugins))


def _words(plugins: Sequence[str]) -> list[str]:
    return [word for plugin in plugins for word in ("--plugin", plugin)]


@pytest.mark.parametrize("name", ["globex/deploy", "deploy@globex"])
def test_both_forms_mean_the_copy_of_the_plugin(plugins: list[str], name: str) -> None:
    catalog = _catalog(plugins)
    assert catalog.get("deploy").description == "Of acme."
    assert catalog.get(name).description == "Of globex."
    assert catalog.skill(name).body == "Body of globex.\n"
    assert catalog.get(name, catalog.get(name).location).description == "Of globex."
    assert [copy.source for copy in catalog.why(name).copies] == ["acme", "globex"]


@pytest.mark.proves("catalog.name.package-alias")
@pytest.mark.parametrize(
    "name", ["initech/deploy", "acme/", "/deploy", "acme//deploy", "../acme/deploy", "acme/../globex/deploy", "acme/x"]
)
def test_other_texts_with_a_slash_name_nothing(plugins: list[str], name: str) -> None:
    with pytest.raises(SkillNotFoundError):
        _catalog(plugins).get(name)
    with pytest.raises(SkillNotFoundError):
        _catalog(plugins).why(name)


def test_a_skill_that_calls_itself_so_cannot_take_the_place_of_a_plugins_copy(
    plugins: list[str], tmp_path: Path
) -> None:
    write_skill(tmp_path / "mine", "odd", description="Of nobody.")
    for name in ("acme/deploy", "deploy@acme"):
        (tmp_path / "mine" / "odd" / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Of nobody.\n---\n")
        catalog = Catalog(tmp_path / "mine", *plugin_sources(plugins))
        assert catalog.get(name).description == "Of acme."


@pytest.mark.proves("catalog.name.package-alias")
@pytest.mark.parametrize("name", ["globex/deploy", "deploy@globex"])
def test_every_command_takes_both_forms(plugins: list[str], name: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = _words(plugins)
    assert run(["load", name, *words]) == 0
    assert "Body of globex." in capfd.readouterr().out
    assert run(["read", name, "notes.md", *words]) == 0
    assert "Notes of globex." in capfd.readouterr().out
    assert run(["run", name, "who.py", *words]) == 0
    assert "globex" in capfd.readouterr().out
    assert run(["why", name, "--json", *words]) == 0
    assert [copy["source"] for copy in json.loads(capfd.readouterr().out)["copies"]] == ["acme", "globex"]


def test_a_directory_of_this_name_is_no_skill_in_place_of_the_plugins(
    plugins: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_skill(tmp_path / "here" / "globex", "deploy", body="Body of the directory.\n")
    for command in (["load", "globex/deploy"], ["read", "globex/deploy", "SKILL.md"]):
        assert run([*command, *_words(plugins)]) == 0
        printed = capfd.readouterr().out
        assert "Body of globex." in printed
        assert "directory" not in printed
        assert run([command[0], "./globex/deploy", *command[2:], *_words(plugins)]) == 0
        assert "Body of the directory." in capfd.readouterr().out
        assert run(command) == 0, "without such a plugin, an existing path is a path"
        assert "Body of the directory." in capfd.readouterr().out
    capfd.readouterr()
    assert run(["load", "globex/deploy", "--root", str(tmp_path / "here"), *_words(plugins)]) == 0
    assert "Body of globex." in capfd.readouterr().out


@pytest.mark.proves("catalog.name.package-alias")
@pytest.mark.anyio
@pytest.mark.parametrize("name", ["globex/deploy", "deploy@globex"])
async def test_every_tool_takes_both_forms(plugins: list[str], name: str) -> None:
    session = ServedSession(_catalog(plugins))

    async def done(tool: str, **arguments: object) -> str:
        result = await session.call(tool, arguments)
        assert result.success, result.error
        return json.dumps(result.result)

    assert "Body of globex." in await done("skills.load", names=[name])
    assert "Notes of globex." in await done("skills.read", skill=name, path="notes.md")
    assert "globex" in await done("skills.run_script", skill=name, path="scripts/who.py")
    await done("skills.unload", names=[name])
    assert session.active_skills == ()
    assert "Body of globex." in await done("skill", skill=name)
    await session.unload(all=True)
    assert "Body of globex." in str((await session.invoke(f"/{name} to production")).content)
    await session.unload(all=True)
    assert "Body of globex." in (await session.prompts.get(name, {}))[1]
    assert not (await session.call("skills.read", {"skill": "acme/deploy", "path": "notes.md"})).success


@pytest.mark.anyio
@pytest.mark.parametrize("form", ["globex/deploy", "deploy@globex"])
@pytest.mark.parametrize("pattern", ["globex/deploy", "deploy@globex", "globex/*", "*@globex", "deploy"])
async def test_a_rule_about_one_form_is_a_rule_about_the_other(
    plugins: list[str], tmp_path: Path, form: str, pattern: str
) -> None:
    policy = tmp_path / "policy.toml"
    rule = f'[[rule]]\neffect = "deny"\ntool = "skills.load"\nmatch = {{ names = "{pattern}" }}\n'
    policy.write_text(f'default = "allow"\n{rule}')
    session = Session(_catalog(plugins), policy=PolicyInForce(policy_file=str(policy)))
    refused = await session.call("skills.load", {"names": [form]})
    assert refused.error_detail is not None
    assert refused.error_detail["code"] == "policy_denied"
    allowed = await session.call("skills.load", {"names": ["acme/deploy"]})
    assert allowed.success is (pattern != "deploy")


@pytest.mark.anyio
async def test_a_rule_that_allows_names_with_a_prefix_allows_no_copy_by_its_label(
    plugins: list[str], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'default = "deny"\n[[rule]]\neffect = "allow"\ntool = "skills.load"\nmatch = { names = "globex*" }\n'
    )
    session = Session(_catalog(plugins), policy=PolicyInForce(policy_file=str(policy)))
    assert not (await session.call("skills.load", {"names": ["globex/deploy"]})).success
    policy.write_text(
        'default = "deny"\n[[rule]]\neffect = "allow"\ntool = "skills.load"\nmatch = { names = "globex/*" }\n'
    )
    session = Session(_catalog(plugins), policy=PolicyInForce(policy_file=str(policy)))
    for form in ("globex/deploy", "deploy@globex"):
        assert (await session.call("skills.load", {"names": [form]})).success
