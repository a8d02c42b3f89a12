"""Skills of other servers: shown with where they come from, and what they list approves nothing in advance."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog import Catalog
from prowess.catalog.sources.mirror import keep, mirrored, remote_skill
from prowess.catalog.trust import TrustStore
from prowess.policy import Policy, PolicyFile
from prowess.runtime import Session
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

_TEXT = "---\nname: foreign\ndescription: Of another server.\nallowed-tools: publish\n---\nPublish it.\n"


def publish(text: str = "") -> str:
    """Publish a text."""
    return text


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """The skill `foreign` of the server `docs`, trusted by a person, beside our own `ours`."""
    data = _TEXT.encode()
    uri = "skill://foreign/SKILL.md"
    entry = {
        "uri": uri,
        "frontmatter": {"name": "foreign", "description": "Of another server.", "allowed-tools": "publish"},
        "resources": [{"uri": uri, "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}],
    }
    source = keep(remote_skill("docs", entry), {"SKILL.md": data})
    TrustStore().trust(source.project or "")
    write_skill(tmp_path / "skills", "ours", extra="allowed-tools: publish\n")
    return Catalog(tmp_path / "skills", *mirrored("docs"))


def _session(catalog: Catalog, mode: Any = None, **options: Any) -> Session:  # noqa: ANN401 -- the options of Session
    policy = Policy(files=(PolicyFile(path="p.toml", default="ask"),)) if mode == "preapprove" else None
    options.setdefault("extra_tools", (FunctionTool(publish), FunctionTool(publish, name="other")))
    return Session(catalog, allowed_tools=mode, policy=options.pop("policy", policy), **options)


async def _load(session: Session, name: str) -> dict[str, Any]:
    outcome = await session.call("skills.load", {"names": [name]})
    if not outcome.success:  # the policy asks about everything
        from prowess.policy import Approval

        session.approve(failure(outcome)["request"], Approval(by="host"))
        outcome = await session.call("skills.load", {"names": [name]})
    return result(outcome)


@pytest.mark.proves("client.safety.preapprove")
async def test_what_a_skill_of_another_server_lists_is_still_asked_about(catalog: Catalog) -> None:
    session = _session(catalog, "preapprove")

    assert (await _load(session, "ours"))["active_skills"][0]["allowed_tools_mode"] == "preapprove"
    assert (await session.call("publish", {})).success
    assert (await _load(session, "foreign"))["active_skills"][0]["allowed_tools_mode"] == "ignored"
    assert failure(await session.call("publish", {}))["code"] == "approval_required"
    assert failure(await session.call("other", {}))["code"] == "approval_required"


async def test_a_skill_of_another_server_still_restricts(catalog: Catalog) -> None:
    session = _session(catalog, "restrict")

    receipt = await _load(session, "foreign")

    assert receipt["active_skills"][0]["allowed_tools_mode"] == "restrict"
    assert (await session.call("publish", {})).success
    assert failure(await session.call("other", {}))["code"] == "tool_not_allowed"


async def test_a_skill_whose_origin_is_not_known_any_more_approves_nothing(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(catalog, "preapprove")
    await _load(session, "ours")
    (skill,) = session.active_skills
    assert session._parts.restrictions.mode_of(skill) == "preapprove"
    monkeypatch.setattr(catalog, "get", Catalog(catalog.entries()[0].root_dir).get)

    assert session._parts.restrictions.mode_of(skill) == "ignored"


async def test_the_origin_stands_wherever_the_skill_is_listed(catalog: Catalog) -> None:
    session = _session(catalog)

    text = session.instructions()
    assert text.count("<origin>") == 1
    assert "<name>foreign</name>\n<description>Of another server.</description>\n<origin>mcp:docs</origin>" in text
    (tool,) = [spec for spec in session.tools(exposure="skill") if spec.name == "skill"]
    assert '"foreign" (from mcp:docs): Of another server.\n"ours": Does ours.\n' in tool.description


async def test_the_receipt_and_the_skill_tool_tell_the_mode_in_force(tmp_path: Path) -> None:
    write_skill(tmp_path, "lists", extra="allowed-tools: publish\n")
    write_skill(tmp_path, "free")
    for mode in ("restrict", "preapprove"):
        session = Session(Catalog(tmp_path), allowed_tools=mode)
        receipt = result(await session.call("skills.load", {"names": ["lists", "free"]}))
        assert [entry["allowed_tools_mode"] for entry in receipt["active_skills"]] == [mode, None]
        left = result(await session.call("skills.unload", {"names": ["free"]}))
        assert left["active_skills"][0]["allowed_tools_mode"] == mode
        session = Session(Catalog(tmp_path), allowed_tools=mode)
        assert result(await session.call("skill", {"skill": "lists"}))["allowed_tools_mode"] == mode
        assert "allowed_tools_mode" not in result(await session.call("skill", {"skill": "free"}))


def test_the_command_line_shows_where_a_skill_comes_from(
    catalog: Catalog, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from prowess.cli.commands import list as listing
    from prowess.cli.commands import why
    from prowess.cli.options.catalog_options import CatalogOptions

    monkeypatch.setattr(CatalogOptions, "open", lambda *_, **__: catalog)
    listing.command.main(args=[], standalone_mode=False)
    rows = capfd.readouterr().out.splitlines()
    assert rows[0].split()[:2] == ["foreign", "mcp:docs"]
    assert rows[1].split()[:2] == ["ours", "project"]
    listing.command.main(args=["--json"], standalone_mode=False)
    assert [skill["origin"] for skill in json.loads(capfd.readouterr().out)["skills"]] == ["docs", None]
    why.command.main(args=["foreign", "--json"], standalone_mode=False)
    assert [copy["origin"] for copy in json.loads(capfd.readouterr().out)["copies"]] == ["docs"]
    why.command.main(args=["foreign"], standalone_mode=False)
    assert "mcp:docs" in capfd.readouterr().out
