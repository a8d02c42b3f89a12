from __future__ import annotations

import gc
import json
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.audit.log import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, UnavailableError
from prowess.execution import default_sandbox
from prowess.runtime import AgentType, ForkOutcome, ForkRequest, Session
from prowess.runtime.forks import ForkUnavailableError
from prowess.tools import ToolSpec
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from prowess.runtime.activation.composition import HostTools
    from prowess.runtime.forks import ForkSession
    from prowess.tools import ToolCall

pytestmark = pytest.mark.anyio

FORK = "context: fork\n"


@dataclass
class Runner:
    """Answers a fork with what `act` returns, and keeps the requests."""

    act: Callable[[ForkRequest], Awaitable[str]]
    turns: int = 2
    requests: list[ForkRequest] = field(default_factory=list)

    async def run(self, request: ForkRequest) -> ForkOutcome:
        self.requests.append(request)
        return ForkOutcome(output=await self.act(request), turns=self.turns)


async def _says(request: ForkRequest) -> str:
    return f"did {request.skill_name}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    write_skill(place, "plain", extra="allowed-tools: Read Grep\n")
    write_skill(
        place,
        "review",
        body="Review $ARGUMENTS.\n",
        extra=FORK + "allowed-tools: Read Bash(git:*)\nmodel: small\n",
        files={"notes.md": "how to\n", "scripts/where.py": "import os\nprint(sorted(os.listdir('/')), os.getcwd())\n"},
    )
    write_skill(place, "inner", extra=FORK)
    return place


@pytest.mark.proves("runtime.fork.subagent", "runtime.fork.output", "runtime.fork.model")
async def test_a_fork_runs_in_a_sub_agent_and_only_its_output_returns(root: Path) -> None:
    runner = Runner(_says)
    session = Session(Catalog(root), fork_runner=runner)

    done = result(await session.call("skill", {"skill": "review", "args": "auth.py"}))

    request = runner.requests[0]
    assert done == {
        "skill_name": "review",
        "output": "did review",
        "turns": 2,
        "child_session_id": request.session.session_id,
        "message": 'The "review" skill is loading',
    }
    assert session.active_skills == ()
    assert request.instructions.endswith("Review auth.py.\n")
    assert request.input == "auth.py"
    await session.call("skill", {"skill": "inner", "args": "this"})
    assert runner.requests[-1].instructions.endswith("Body of inner.\n\nARGUMENTS: this\n")
    assert (request.model, request.agent, request.depth, request.max_turns) == ("small", None, 1, 20)
    # Its context is discarded.
    assert failure(await request.session.call("skills.read", {"path": "notes.md"}))["code"] == "session_not_found"


@pytest.mark.proves("runtime.fork.default")
async def test_without_a_word_on_context_a_skill_joins_the_conversation(root: Path) -> None:
    runner = Runner(_says)
    session = Session(Catalog(root), fork_runner=runner)
    assert "Body of plain." in result(await session.call("skill", {"skill": "plain"}))["content"]
    assert [skill.name for skill in session.active_skills] == ["plain"]
    assert runner.requests == []


async def test_a_fork_is_never_loaded_and_the_refusal_names_the_way(root: Path) -> None:
    session = Session(Catalog(root), fork_runner=Runner(_says))
    for arguments in ({"names": ["review"]}, {"names": ["plain", "review"], "mode": "add"}):
        wrong = failure(await session.call("skills.load", arguments))
        assert wrong["code"] == "invalid_arguments"
        assert 'call the tool skill with {"skill": "review"' in wrong["message"]
    assert session.active_skills == ()
    told = session.instructions()
    assert "run in a sub-agent and cannot be loaded: inner, review. Start them with the tool `skill`." in told
    tool = session.tools()[-1]
    assert tool.name == "skill"
    assert tool.input_schema["properties"]["skill"]["enum"] == ["inner", "review"]  # type: ignore[index]  # a schema
    assert (await session.invoke("/review x")).output == "did review"


async def test_without_a_runner_a_fork_is_hidden_and_never_run_in_the_conversation(root: Path) -> None:
    session = Session(Catalog(root))
    for face in ("tools", "skill", "files"):
        seen = session.instructions(exposure=face) + json.dumps(session.tools("mcp", exposure=face))
        assert "Does review." not in seen
        assert "inner" not in seen
    assert session.completions() == ("plain",)
    assert failure(await session.call("skill", {"skill": "review"}))["code"] == "fork_unavailable"
    with pytest.raises(ForkUnavailableError, match="runs no sub-agents"):
        await session.invoke("review")
    with pytest.raises(InvalidArgumentsError):
        await session.load(["review"])
    assert session.active_skills == ()


@pytest.mark.proves("runtime.fork.agent")
async def test_a_fork_knows_of_the_tools_that_its_host_has(root: Path) -> None:
    binding = "tools: {dependencies: [{tool: WebFetch, required: true, purpose: pages}]}\n"
    write_skill(root, "needing", files={"skill.manifest.yaml": binding})
    there: list[bool] = []

    async def loads(request: ForkRequest) -> str:
        there.append((await request.session.call("skills.load", {"names": ["needing"], "mode": "add"})).success)
        return "done"

    every: tuple[HostTools | None, ...] = (["WebFetch"], iter(["WebFetch"]), {"WebFetch": None}, [], None)
    for host_tools in every:
        session = Session(Catalog(root), fork_runner=Runner(loads), host_tools=host_tools)
        result(await session.call("skill", {"skill": "review"}))
    assert there == [True, True, True, False, True]


async def test_an_agent_type_is_looked_up_before_anything_runs(root: Path) -> None:
    write_skill(root, "typed", extra=FORK + "agent: explorer\n")
    runner = Runner(_says)
    bare = Session(Catalog(root), fork_runner=runner)
    wrong = failure(await bare.call("skill", {"skill": "typed"}))
    assert wrong["code"] == "fork_unavailable"
    assert "'explorer' is not registered; registered types: none" in wrong["message"]
    assert runner.requests == []

    kind = AgentType(name="explorer", instructions="You explore.", tools=(_Extra(),), model="big", max_turns=3)
    session = Session(Catalog(root), fork_runner=runner, agent_types=[kind])
    runner.act = _tools_of
    done = result(await session.call("skill", {"skill": "typed"}))
    (request,) = runner.requests
    assert (request.agent, request.model, request.max_turns) == (kind, "big", 3)
    assert "You explore.\nBody of typed." in request.instructions
    assert "look" in done["output"]
    assert [spec.name for spec in session.tools() if spec.name == "look"] == []


async def _tools_of(request: ForkRequest) -> str:
    return " ".join(spec.name for spec in request.session.tools())


class _Extra:
    spec = ToolSpec(name="look", description="Looks.", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        raise NotImplementedError


@pytest.mark.proves("runtime.fork.restriction")
async def test_a_sub_agent_may_use_what_its_skill_and_everything_around_it_permit(root: Path) -> None:
    async def nested(request: ForkRequest) -> str:
        if request.skill_name == "review":
            result(await request.session.call("skill", {"skill": "inner"}))
        return ""

    runner = Runner(nested)
    session = Session(Catalog(root), fork_runner=runner)
    await session.load(["plain"])
    result(await session.call("skill", {"skill": "review"}))
    outer, inner = runner.requests
    assert [one.skill for one in outer.allowed_tools] == ["plain", "review"]
    assert [one.skill for one in inner.allowed_tools] == ["plain", "review", "inner"]
    assert [[str(token) for token in one.tokens or ()] for one in inner.allowed_tools] == [
        ["Read", "Grep"],
        ["Read", "Bash(git:*)"],
        [],
    ]
    assert isinstance(outer.session, Session)
    parts = outer.session._parts
    assert [one.skill for one in parts.restrictions.of(parts.stored.state)] == ["plain"]


@pytest.mark.proves("runtime.fork.restriction")
async def test_a_tool_that_the_parent_may_not_use_is_refused_in_a_fork(root: Path) -> None:
    write_skill(root, "typed", extra=FORK + "agent: explorer\n")
    seen: list[str] = []

    async def looks(request: ForkRequest) -> str:
        wrong = failure(await request.session.call("look", {}))
        seen.append(wrong["code"])
        return str(wrong["message"])

    kind = AgentType(name="explorer", tools=(_Extra(),))
    session = Session(Catalog(root), fork_runner=Runner(looks), agent_types=[kind])
    await session.load(["plain"])
    said = result(await session.call("skill", {"skill": "typed"}))["output"]
    assert seen == ["tool_not_allowed"]
    assert "'plain'" in said


@pytest.mark.proves("runtime.fork.bounded", "runtime.activate.cycle")
async def test_forks_inside_forks_are_bounded_and_never_close_a_cycle(root: Path) -> None:
    for number in range(1, 8):
        write_skill(root, f"level-{number}", extra=FORK)

    async def deeper(request: ForkRequest) -> str:
        name = request.skill_name
        wanted = "review" if name == "inner" else "inner" if name == "review" else f"level-{request.depth + 1}"
        done = await request.session.call("skill", {"skill": wanted})
        return str((done.error_detail or {}).get("message") or (done.result or {})["output"])

    runner = Runner(deeper)
    session = Session(Catalog(root), fork_runner=runner)
    said = result(await session.call("skill", {"skill": "level-1"}))["output"]
    assert "6 is over the limit of 5" in said
    assert [request.depth for request in runner.requests] == [1, 2, 3, 4, 5]
    said = result(await session.call("skill", {"skill": "review"}))["output"]
    assert "review → inner → review" in said

    runner.act, runner.turns = _says, 21
    wrong = failure(await session.call("skill", {"skill": "review"}))
    assert wrong["code"] == "limit_exceeded"
    assert "turns of skill 'review'" in wrong["message"]


async def test_output_without_end_is_refused(root: Path) -> None:
    async def much(request: ForkRequest) -> str:
        return "x" * 200_001

    wrong = failure(await Session(Catalog(root), fork_runner=Runner(much)).call("skill", {"skill": "inner"}))
    assert wrong["code"] == "limit_exceeded"


async def test_a_runner_that_fails_leaves_no_session_behind_and_is_recorded(root: Path, tmp_path: Path) -> None:
    opened: list[ForkSession] = []

    async def fails(request: ForkRequest) -> str:
        opened.append(request.session)
        raise UnavailableError("the model")

    log = tmp_path / "audit.jsonl"
    session = Session(Catalog(root), fork_runner=Runner(fails), audit=JsonlAuditLog(log))
    assert failure(await session.call("skill", {"skill": "inner"}))["code"] == "unavailable"
    assert failure(await opened[0].call("skills.unload", {"all": True}))["code"] == "session_not_found"
    records = [json.loads(line) for line in log.read_text().splitlines()]
    finished = next(record for record in records if record["kind"] == "fork.finished")
    assert finished["data"]["code"] == "unavailable"
    assert {record["session_id"] for record in records} == {session.session_id, opened[0].session_id}


async def test_a_fork_that_is_cancelled_is_closed(root: Path) -> None:
    opened: list[ForkSession] = []

    async def waits(request: ForkRequest) -> str:
        opened.append(request.session)
        scope.cancel()
        await anyio.sleep(5)
        return ""

    with anyio.CancelScope() as scope:
        await Session(Catalog(root), fork_runner=Runner(waits)).call("skill", {"skill": "inner"})
    assert failure(await opened[0].call("skills.unload", {"all": True}))["code"] == "session_not_found"


SECRET = "swordfish-4711"


def _reachable(start: object) -> Iterator[object]:
    """Yield every object that Python code could get at from `start`, without going through code and modules."""
    seen: set[int] = set()
    waiting: list[object] = [start]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, ModuleType | FunctionType | BuiltinFunctionType | type):
            continue
        seen.add(id(found))
        yield found
        waiting += gc.get_referents(found)


@pytest.mark.proves("runtime.fork.isolation", "runtime.fork.input")
async def test_a_secret_of_the_parent_is_out_of_reach_for_a_fork(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted in the parent's messages, memory, arguments, environment, workspace and artifacts."""
    monkeypatch.setenv("PARENT_SECRET", SECRET)
    work = tmp_path / "work"
    work.mkdir()
    (work / "secret.txt").write_text(SECRET)
    write_skill(root, "holder", body="$ARGUMENTS\n", files={"notes.md": "not active here"})
    artifacts = tmp_path / "artifacts"
    tried: list[str] = []

    async def spies(request: ForkRequest) -> str:
        child = request.session
        calls: list[tuple[str, dict[str, object]]] = [
            ("skills.read", {"skill": "holder", "path": "notes.md"}),
            ("skills.read", {"path": str(work / "secret.txt")}),
            ("skills.read", {"artifact": "left.txt"}),
            ("skills.read", {"artifact": f"../{parent.session_id}/run/left.txt"}),
            ("skills.read", {"path": "/proc/self/environ"}),
            ("skills.run_script", {"path": "scripts/spy.py", "args": [str(work), str(artifacts)]}),
            ("remember", {}),
        ]
        tried.append(request.instructions + request.input + child.instructions() + json.dumps(child.tools("mcp")))
        for name, arguments in calls:
            tried.append(json.dumps((await child.call(name, arguments)).as_dict()))
        tried.extend(found for found in _reachable(request) if isinstance(found, str))
        tried.extend("parent" for found in _reachable(request) if found in hidden)
        return "nothing"

    spy = (
        "import os, sys\nprint(dict(os.environ))\n"
        "for place in ('/workspace', '/skill', *sys.argv[1:]):\n"
        "    for top, _, files in os.walk(place):\n"
        "        for name in files:\n            print(open(os.path.join(top, name), errors='replace').read())\n"
    )
    write_skill(root, "spy", extra=FORK, files={"scripts/spy.py": spy})

    class Remember:
        spec = ToolSpec(name="remember", description="Knows.", input_schema={"type": "object"})
        memory = SECRET

        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            return {"memory": self.memory}

    parent = Session(
        Catalog(root),
        fork_runner=Runner(spies),
        workspace=work,
        write=True,
        artifacts_dir=artifacts,
        extra_tools=[Remember()],
    )
    hidden: list[Any] = [parent, parent._parts, parent._parts.stored, parent._parts.stored._store]
    left = artifacts / parent.session_id / "run"
    left.mkdir(parents=True)
    (left / "left.txt").write_text(SECRET)
    await parent.invoke("holder", args=SECRET)
    messages = [{"role": "user", "content": SECRET}]

    assert result(await parent.call("skill", {"skill": "spy", "args": "look around"}))["output"] == "nothing"

    assert messages
    assert len(tried) > 100
    assert [text for text in tried if SECRET in text or "not active here" in text or text == "parent"] == []
    # The same probes do find it where it is.
    assert SECRET in json.dumps((await parent.call("skills.read", {"artifact": "left.txt"})).as_dict())
    assert any(isinstance(found, str) and SECRET in found for found in _reachable(parent))


@pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")
async def test_the_workspace_is_shared_only_where_the_host_says_so(root: Path, tmp_path: Path) -> None:
    async def looks(request: ForkRequest) -> str:
        done = result(await request.session.call("skills.run_script", {"path": "scripts/where.py"}))
        return str(done["stdout"])

    for shared in (False, True):
        session = Session(Catalog(root), fork_runner=Runner(looks), workspace=tmp_path, fork_workspace=shared)
        said = result(await session.call("skill", {"skill": "review"}))["output"]
        assert ("'workspace'" in said) is shared


async def test_hooks_of_a_fork_stand_around_its_run(root: Path, tmp_path: Path) -> None:
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can start here")
    refuse = "import sys\nprint('no')\nsys.exit(1)\n"
    write_skill(root, "guarded", extra=FORK + "hooks:\n  pre: scripts/no.py\n", files={"scripts/no.py": refuse})
    runner = Runner(_says)
    session = Session(Catalog(root), fork_runner=runner)
    assert failure(await session.call("skill", {"skill": "guarded"}))["code"] == "hook_failed"
    assert runner.requests == []

    log = tmp_path / "audit.jsonl"
    write_skill(root, "tidy", extra=FORK + "hooks:\n  post: scripts/ok.py\n", files={"scripts/ok.py": "print(1)\n"})
    session = Session(Catalog(root), fork_runner=runner, audit=JsonlAuditLog(log))
    result(await session.call("skill", {"skill": "tidy"}))
    kinds = [json.loads(line)["kind"] for line in log.read_text().splitlines()]
    assert kinds.index("fork.started") < kinds.index("hook.finished") < kinds.index("fork.finished")


async def test_the_session_of_a_fork_has_the_skill_active(root: Path) -> None:
    async def reads(request: ForkRequest) -> str:
        await request.session.load(["plain"], mode="add")
        assert [skill.name for skill in request.session.active_skills] == ["review", "plain"]
        return (await request.session.read("notes.md", skill="review")).text

    session = Session(Catalog(root), fork_runner=Runner(reads))
    assert result(await session.call("skill", {"skill": "review"}))["output"] == "how to\n"
    assert names(await session.load(["plain"])) == ["plain"]
