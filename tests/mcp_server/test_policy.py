"""A server under a policy: what is denied, what the person behind the client is asked, and what a host reads."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import types
from mcp.client.client import Client, ConnectMode
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict

from prowess import Catalog
from prowess.mcp_server.elicitation import ClientApprover
from prowess.mcp_server.server import build_server, open_session
from prowess.policy import read_policy_file
from prowess.policy.policy import Policy
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

POLICY = """
default = "allow"
[[rule]]
effect = "deny"
tool = "skills.read"
match = { skill = "beta" }
reason = "beta is closed"
[[rule]]
effect = "ask"
tool = "skills.read"
match = { path = "references/*" }
reason = "somebody looks first"
"""
ALPHA = {"names": ["alpha", "beta"]}
REFERENCE = {"skill": "alpha", "path": "references/a.md"}


class _Any(BaseModel):
    model_config = ConfigDict(extra="allow")


class Person:
    """Answers the questions of a server, and keeps them."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        self.asked.append(params.message)
        return self._answers.pop(0)


def _says(action: Any, **content: Any) -> types.ElicitResult:  # noqa: ANN401 -- a form's values
    return types.ElicitResult(action=action, content=content or None)


NO_LISTS = 'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.list"\nreason = "no lists"\n'
NO_BETA = NO_LISTS.replace("skills.list", "skills.load").replace("reason", 'match = { names = "beta" }\nreason')


@pytest.fixture
def policy(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The file of the policy; another text by indirect parametrisation."""
    path = tmp_path / "policy.toml"
    path.write_text(getattr(request, "param", POLICY))
    return path


Connect = Any


@pytest.fixture
def connect(skills: Path, policy: Path) -> Callable[..., Any]:
    """`async with connect(person, mode) as client`: a server of this process under the policy."""

    @asynccontextmanager
    async def opened(person: Person | None = None, mode: Any = "legacy", **options: Any) -> AsyncIterator[Client]:  # noqa: ANN401 -- for Session
        session = open_session(Catalog(skills), policy=Policy(files=(read_policy_file(str(policy)),)), **options)
        async with Client(build_server(session), mode=mode, elicitation_callback=person) as client:
            yield client
        await session.close()

    return opened


def _code(result: types.CallToolResult) -> str | None:
    return ((result.meta or {}).get("prowess/error") or {}).get("code")


@pytest.mark.measured_once
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_served_policy_denies_asks_and_allows(
    skills: Path, policy: Path, tmp_path: Path, own_home: Path, mode: ConnectMode
) -> None:
    person = Person(_says("accept"), _says("decline"))
    arguments = ["--root", str(skills), "--workspace", str(tmp_path / "workspace"), "--policy", str(policy)]
    (tmp_path / "workspace").mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    parameters = StdioServerParameters(command=prowess(), args=["serve", *arguments], env=env)
    with (tmp_path / "stderr.txt").open("w") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr), mode=mode, elicitation_callback=person) as client:
            assert not (await client.call_tool("skills_load", ALPHA)).is_error
            denied = await client.call_tool("skills_read", {"skill": "beta", "path": "secret.md"})
            assert (denied.is_error, _code(denied)) == (True, "policy_denied")
            assert "beta is closed" in str(denied.content)
            asked = await client.call_tool("skills_read", REFERENCE)
            assert (asked.structured_content or {})["text"] == "# A\n\nRead me.\n"
            assert _code(await client.call_tool("skills_read", REFERENCE)) == "policy_denied"
    assert len(person.asked) == 2
    assert person.asked[0].startswith("Tool skills.read asks to run: somebody looks first")
    assert "references/a.md" in person.asked[0]
    log = (own_home / ".prowess" / "audit" / "audit.jsonl").read_text()
    records = [json.loads(line) for line in log.splitlines()]
    answers = [record for record in records if record["kind"].startswith("approval.")]
    assert [(record["kind"], record["data"]["by"]) for record in answers] == [
        ("approval.given", "client:mcp"),
        ("approval.refused", "client:mcp"),
    ]


async def test_requests_of_one_client_keep_the_generation_of_the_policy(skills: Path, policy: Path) -> None:
    session = open_session(Catalog(skills), policy=Policy(files=(read_policy_file(str(policy)),)))
    async with Client(build_server(session), mode="legacy") as client:
        await client.list_tools()
        first, offered = session._parts.policy.now(), session._parts.offered.offers("model")
        await client.call_tool("skills_load", ALPHA)
        assert session._parts.policy.now() is first
        assert session._parts.offered.offers("model") is offered
    await session.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_cannot_ask_gets_the_request_instead(connect: Connect, mode: str) -> None:
    async with connect(mode=mode) as client:
        await client.call_tool("skills_load", ALPHA)
        refused = await client.call_tool("skills_read", REFERENCE)
        assert _code(refused) == "approval_required"
        assert (refused.meta or {})["prowess/error"]["request"].startswith("ask-")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_yes_that_is_remembered_is_not_asked_again_and_a_dismissed_question_permits_nothing(
    connect: Connect, mode: str
) -> None:
    person = Person(_says("cancel"), _says("accept", remember="yes"), _says("accept", remember=True))
    async with connect(person, mode) as client:
        await client.call_tool("skills_load", ALPHA)
        assert _code(await client.call_tool("skills_read", REFERENCE)) == "approval_required"
        assert len(person.asked) == 1
        for _ in range(4):  # a word is not the remembering yes, so it is good for one call
            assert not (await client.call_tool("skills_read", REFERENCE)).is_error
        assert person._answers == []


async def test_nobody_waits_for_ever_for_an_answer(connect: Connect) -> None:
    async def never(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        await anyio.sleep(30)
        return _says("accept")

    async with connect(never, approver=ClientApprover(seconds=0.1)) as client:
        await client.call_tool("skills_load", ALPHA)
        with anyio.fail_after(10):
            assert _code(await client.call_tool("skills_read", REFERENCE)) == "approval_required"


async def test_an_answer_that_nobody_asked_for_means_nothing(connect: Connect) -> None:
    async with connect(Person(), "auto") as client:
        await client.call_tool("skills_load", ALPHA)
        forged: dict[str, Any] = {"ask-0": _says("accept", remember=True)}
        parameters = types.CallToolRequestParams(name="skills_read", arguments=REFERENCE, input_responses=forged)
        answer = await client.session.send_request(types.CallToolRequest(params=parameters), _Any)
        assert (answer.model_extra or {})["resultType"] == "input_required"


async def _extension(client: Client, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    request = types.Request[dict[str, Any], str](method=method, params=params)
    return dict((await client.session.send_request(request, _Any)).model_extra or {})


@pytest.mark.parametrize("uri", ["skill://beta/SKILL.md", "skill://beta/secret.md", "skill://beta/_manifest"])
async def test_what_is_denied_as_a_tool_is_denied_as_a_resource(connect: Connect, uri: str) -> None:
    async with connect() as client:
        assert "Do alpha." in str(await client.read_resource("skill://alpha/SKILL.md"))
        with pytest.raises(MCPError, match="beta is closed") as refused:
            await client.read_resource(uri)
        assert refused.value.error.data["code"] == "policy_denied"


async def test_the_skills_extension_passes_the_same_rules(connect: Connect) -> None:
    async with connect() as client:
        entry = await _extension(client, "skills/get", uri="skill://alpha/SKILL.md")
        assert entry["skill"]["uri"] == "skill://alpha/SKILL.md"
        assert await _extension(client, "resources/directory/read", uri="skill://alpha")
        for method, uri in (("skills/get", "skill://beta/SKILL.md"), ("resources/directory/read", "skill://beta")):
            with pytest.raises(MCPError, match="beta is closed"):
                await _extension(client, method, uri=uri)


@pytest.mark.parametrize("policy", [NO_BETA], indirect=True, ids=["no beta"])
@pytest.mark.usefixtures("policy")
async def test_a_skill_that_may_not_be_loaded_stands_in_no_list_for_hosts(connect: Connect) -> None:
    async with connect() as client:
        entries = (await _extension(client, "skills/list"))["skills"]
        assert [entry["uri"] for entry in entries] == ["skill://alpha/SKILL.md"]
        resources = (await client.list_resources()).resources
        assert "skill://alpha/SKILL.md" in {str(one.uri) for one in resources}
        assert not [one for one in resources if "beta" in str(one.uri)]
        assert "beta" not in str(await client.read_resource("skill://index.json"))


@pytest.mark.parametrize("policy", [NO_LISTS], indirect=True, ids=["no lists"])
@pytest.mark.usefixtures("policy")
async def test_a_policy_that_denies_the_list_denies_each_form_of_it(connect: Connect) -> None:
    async with connect() as client:
        assert _code(await client.call_tool("skills_list", {})) == "policy_denied"
        with pytest.raises(MCPError, match="no lists"):
            await _extension(client, "skills/list")
        with pytest.raises(MCPError, match="no lists"):
            await client.read_resource("skill://index.json")
        assert "Do alpha." in str(await client.read_resource("skill://alpha/SKILL.md"))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_resource_that_is_asked_about_is_read_after_a_yes(connect: Connect, mode: str) -> None:
    person = Person(_says("accept"), _says("decline"))
    async with connect(person, mode) as client:
        assert "Read me." in str(await client.read_resource("skill://alpha/references/a.md"))
        with pytest.raises(MCPError, match="a person refused it"):
            await client.read_resource("skill://alpha/references/a.md", cache_mode="bypass")
    assert len(person.asked) == 2
    async with connect() as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("skill://alpha/references/a.md")
        assert refused.value.error.data["code"] == "approval_required"


async def test_a_hook_on_reads_stands_before_resources_too(connect: Connect, skills: Path, sandbox: None) -> None:
    (skills / "alpha" / "SKILL.md").write_text(
        "---\nname: alpha\ndescription: First.\nhooks:\n  PreToolUse:\n"
        "    - {script: scripts/fail.sh, matcher: skills.read}\n---\n# alpha\n"
    )
    async with connect() as client:
        await client.read_resource("skill://alpha/SKILL.md")
        await client.call_tool("skills_load", {"names": ["alpha"]})
        with pytest.raises(MCPError, match="PreToolUse hook"):
            await client.read_resource("skill://alpha/scripts/nap.sh")
