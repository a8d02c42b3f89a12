"""Rules about what a skill is, in running sessions: a renamed or moved copy does not pass."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from prowess import Catalog, Session
from prowess.catalog import DirectorySource, Layer
from prowess.errors import PolicyDeniedError
from prowess.runtime.activation.snapshots import Snapshots
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import failure, result, write_skill

pytestmark = pytest.mark.anyio

_ALLOW = 'default = "allow"\n'


def _rule(effect: str, tool: str, match: str) -> str:
    return f'[[rule]]\neffect = "{effect}"\ntool = "{tool}"\nmatch = {{ {match} }}\n'


def _note(text: str) -> str:
    """Write a note."""
    return text


def _put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def user_file() -> Path:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / "policy.toml"


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "deploy", body="Text of deploy.\n", files={"references/a.md": "a\n"})
    write_skill(tmp_path / "skills", "other", body="Text of other.\n", files={"references/a.md": "a\n"})
    return tmp_path / "skills"


async def _code(session: Session, tool: str, **arguments: object) -> str | None:
    done = await session.call(tool, arguments)
    return None if done.success else str(failure(done)["code"])


@pytest.mark.proves("governance.policy.match-identity")
@pytest.mark.parametrize("which", ["digest", "content_digest", "document_digest"])
async def test_a_copy_under_another_name_is_denied_by_its_digest(which: str, tmp_path: Path, user_file: Path) -> None:
    nameless = tmp_path / "skills" / "deploy"
    nameless.mkdir(parents=True)
    _put(nameless / "SKILL.md", "---\ndescription: It deploys.\n---\nText.\n")
    shutil.copytree(nameless, tmp_path / "skills" / "harmless")
    write_skill(tmp_path / "skills", "other", body="Text of other.\n")
    catalog = Catalog(tmp_path / "skills")
    skill = catalog.skill("deploy")
    digest = skill.manifest.content_digest if which == "content_digest" else getattr(skill, which)
    _put(user_file, _ALLOW + _rule("deny", "skills.load", f'skill.digest = "{digest}"'))
    session = Session(catalog)
    assert await _code(session, "skills.load", names=["deploy"]) == "policy_denied"
    assert await _code(session, "skills.load", names=["harmless"]) == "policy_denied"
    assert await _code(session, "skill", skill="harmless") == "policy_denied"
    assert await _code(session, "skills.load", names=["other"]) is None
    with pytest.raises(PolicyDeniedError):
        await session.invoke("/harmless")
    assert session.completions() == ("other",)


@pytest.mark.proves("governance.policy.match-identity")
@pytest.mark.parametrize("written", ["label", "root", "above"])
async def test_every_copy_below_a_source_is_denied(written: str, tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "acme" / "skills", "deploy")
    write_skill(tmp_path / "own", "other")
    plugin = DirectorySource(str(tmp_path / "acme" / "skills"), layer=Layer.PLUGIN, label="acme", named=True)
    source = {"label": "acme", "root": tmp_path / "acme" / "skills", "above": tmp_path / "acme"}[written]
    _put(user_file, _ALLOW + _rule("deny", "skills.load", f'skill.source = "{source}"'))
    session = Session(Catalog(tmp_path / "own", plugin))
    for name in ("deploy", "deploy@acme"):
        assert await _code(session, "skills.load", names=[name]) == "policy_denied"
    assert await _code(session, "skills.load", names=["other"]) is None
    (tmp_path / "acme" / "skills" / "deploy").rename(tmp_path / "acme" / "skills" / "renamed")
    assert await _code(session, "skills.load", names=["renamed"]) in {"policy_denied", "skill_not_found"}
    (tmp_path / "link").symlink_to(tmp_path / "acme" / "skills")
    assert await _code(Session(Catalog(tmp_path / "link")), "skills.load", names=["deploy"]) == (
        None if written == "label" else "policy_denied"
    )


@pytest.mark.parametrize("match", ['skill.layer = "project"', 'skill.name = "deploy"', 'skill.publisher = "acme"'])
async def test_a_new_rule_about_a_fact_ends_what_an_active_skill_may_do(
    match: str, skills: Path, user_file: Path
) -> None:
    session = Session(Catalog(skills), extra_tools=[FunctionTool(_note)])
    await session.load(["deploy"])
    assert result(await session.call("skills.read", {"path": "references/a.md"}))["text"]
    _put(user_file, _ALLOW + _rule("deny", "skills.load", match))
    assert await _code(session, "skills.read", path="references/a.md") == "policy_denied"
    assert "Text of deploy." not in session.instructions()
    assert await _code(session, "_note", text="x") is None
    _put(user_file, _ALLOW + _rule("deny", "_note", match))
    assert await _code(session, "_note", text="x") == "policy_denied"
    assert await _code(session, "skills.read", path="references/a.md") is None
    assert await _code(session, "skills.unload", names=["deploy"]) is None
    assert await _code(session, "_note", text="x") is None


async def test_what_is_allowed_by_a_fact_is_allowed_for_no_other(skills: Path, user_file: Path) -> None:
    _put(user_file, 'default = "deny"\n' + _rule("allow", "skills.*", 'skill.name = "deploy"'))
    session = Session(Catalog(skills))
    assert await _code(session, "skills.load", names=["deploy"]) is None
    assert await _code(session, "skills.load", names=["other"]) == "policy_denied"
    assert await _code(session, "skills.load", names=["deploy", "other"]) == "policy_denied"
    _put(user_file, 'default = "deny"\n' + _rule("allow", "skills.*", 'skill.publisher = "*"'))
    assert await _code(session, "skills.load", names=["deploy"]) == "policy_denied"


async def test_files_that_change_between_the_decision_and_the_read_are_decided_about_again(
    skills: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(skills)
    evil = "---\nname: other\ndescription: Evil.\n---\nEvil.\n"
    good = (skills / "other" / "SKILL.md").read_text(encoding="utf-8")
    _put(skills / "other" / "SKILL.md", evil)
    digest = Catalog(skills).skill("other").document_digest
    _put(skills / "other" / "SKILL.md", good)
    _put(user_file, _ALLOW + _rule("deny", "skills.load", f'skill.digest = "{digest}"'))
    session = Session(catalog)
    take, retake = Snapshots.take, Snapshots.retake

    def exchanged(self: Snapshots, name: str, location: str | None = None) -> object:
        _put(skills / "other" / "SKILL.md", evil)
        return take(self, name, location)

    monkeypatch.setattr(Snapshots, "take", exchanged)
    monkeypatch.setattr(Snapshots, "retake", lambda self, entry: retake(self, entry) and None)
    assert await _code(session, "skills.load", names=["other"]) == "policy_denied"
    assert session.active_skills == ()


@pytest.mark.proves("governance.policy.match-identity")
@pytest.mark.parametrize("source", ["skills", "skills/team", "shared"])
async def test_a_skill_behind_a_link_is_denied_by_every_path_that_leads_to_it(
    source: str, tmp_path: Path, user_file: Path
) -> None:
    write_skill(tmp_path / "shared", "deploy")
    write_skill(tmp_path / "skills", "other")
    (tmp_path / "skills" / "team").symlink_to(tmp_path / "shared")
    _put(user_file, _ALLOW + _rule("deny", "skills.load", f'skill.source = "{tmp_path / source}"'))
    session = Session(Catalog(tmp_path / "skills"))
    assert await _code(session, "skills.load", names=["deploy"]) == "policy_denied"
    assert await _code(session, "skills.load", names=["other"]) == ("policy_denied" if source == "skills" else None)
