"""A hidden skill leaves no trace in any command, tool, request, prompt, list or adapter, except in `prowess why`.

Every table below is compared with the real list, so a new command, tool, method or adapter fails until it is here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules
from threading import Thread
from typing import TYPE_CHECKING, Any

import click
import pytest

import prowess.adapters
from prowess import Catalog, Session
from prowess.adapters.skill_contents import SkillContents
from prowess.agent import Agent
from prowess.agent.scripted import ScriptedModel
from prowess.cli.dispatch import run
from prowess.cli.main import COMMANDS
from prowess.errors import SkillError, SkillNotFoundError
from prowess.mcp_server.server import build_server, open_session
from prowess.runtime.call_options import EXPOSURE_NAMES
from prowess.runtime.json_lines import METHODS, answer
from prowess.runtime.sync import SyncSession
from prowess.tools.shapes import SHAPES
from tests.mcp_server.conftest import MessageChannel
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from prowess.agent import ModelRequest

HIDDEN = "secret-zebra"
UNKNOWN = "secret-zebru"  # never existed; as long, and as like to other names
WORDS = ("quokka", "numbat", "wombat", "okapi", "axolotl", "mauve")  # of every part of the skill
TASK = "quokka numbat wombat okapi axolotl secret zebra"


@pytest.fixture(params=["out_of_scope", "disabled"])
def home(request: pytest.FixtureRequest, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the personal skills of a machine on which one skill is hidden."""
    skills = own_home / ".prowess" / "skills"
    extra = "tags: [okapi]\ncolour: mauve\n"  # an unknown field, which is a warning
    if request.param == "out_of_scope":
        extra += "scope:\n  tenants: acme\n"
    else:
        monkeypatch.setenv("PROWESS_DISABLED", "secret-z*")
    write_skill(
        skills,
        HIDDEN,
        description="Finds the quokka. Use when a quokka is lost.",
        body="Follow the numbat.\n",
        files={"notes.md": "The wombat knows.\n", "scripts/find.py": "print('axolotl')\n"},
        extra=extra,
    )
    write_skill(skills, "visible", description="Does the visible thing.", files={"scripts/say.py": "print('said')\n"})
    write_skill(skills, "secret-keeper", description="Keeps other things.")
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    monkeypatch.chdir(work)
    return own_home


def _unlike(text: str) -> str:
    """Return a text without what differs between two runs: identifiers, digests and durations."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|[0-9a-f]{64}", "ID", text)
    return re.sub(r'("(?:duration_ms|tokens_used|sequence|time)": )[^,}]+', r"\1N", text)


def _shows_nothing(text: str, *, asked: bool = False) -> None:
    """Check that a text has no word of the hidden skill, and not its name either unless the name was asked for."""
    told = text.lower().replace(TASK, "").replace("the tag 'okapi'", "")  # what the caller has written
    words = WORDS if asked else (*WORDS, HIDDEN)
    assert [word for word in words if word in told] == [], text


# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────

_PATHS = "it works on the paths that it is given, and opens no catalog"
_NO_SKILLS = "it shows settings, records or this machine, and no skill of the catalog"
_LOCKS = "it works on locks and sources, whose skills it names to whoever manages them, and lists no catalog"
_CASES: dict[str, list[list[str]] | str] = {
    "validate": _PATHS,
    "read-properties": _PATHS,
    "to-prompt": _PATHS,
    "check": _PATHS,
    "fmt": _PATHS,
    "test": _PATHS,
    "eval ablate": _PATHS,
    "eval compare": _PATHS,
    "eval convert": _PATHS,
    "eval export": _PATHS,
    "eval judge": _PATHS,
    "eval report": _PATHS,
    "eval run": _PATHS,
    "eval stats": _PATHS,
    "eval improve": _PATHS,
    "eval triggers": _PATHS,
    "new": _PATHS,
    "rule": _NO_SKILLS,
    "conformance": _NO_SKILLS,
    "show": [["show", HIDDEN], ["show", HIDDEN, "--json"], ["show", f"prowess/{HIDDEN}"]],
    "list": [
        ["list"],
        ["list", "--json"],
        ["list", "secret"],
        ["list", HIDDEN],
        ["list", "--json", HIDDEN],
        ["list", "--tag", "okapi"],
        ["list", "--no-index"],
        ["list", "--seen-by", "claude-code"],
    ],
    "match": [["match", TASK], ["match", TASK, "--json"], ["match", f"/{HIDDEN}"], ["match", TASK, "--bodies"]],
    "watch": "it prints what `Catalog.watch` yields, see below",
    "index": [["index"], ["index", "--json"], ["index", "--rebuild"]],
    "why": "it is the one answer that tells why a skill is hidden",
    "load": [["load", HIDDEN], ["load", HIDDEN, "--json"]],
    "read": [["read", HIDDEN, "SKILL.md"], ["read", HIDDEN, "notes.md"]],
    "run": [["run", HIDDEN, "find.py"], ["run", HIDDEN, "scripts/find.py", "--json"], ["run", HIDDEN, "nothing.py"]],
    "trust": [["trust"], ["trust", "--list"], ["trust", "--package", HIDDEN], ["trust", "--revoke"]],
    "session": "it answers the requests of JSON lines, see below",
    "serve": [["serve", "--print-config", "claude"]],  # and the requests of MCP, see below
    "lsp": _PATHS,
    "agent": "it runs `prowess.agent.Agent`, see below",
    "policy show": [["policy", "show"], ["policy", "show", "--json"]],
    "policy test": _NO_SKILLS,
    "approve": [["approve", HIDDEN]],
    "approvals list": [["approvals", "list"], ["approvals", "list", "--json"]],
    **dict.fromkeys(("approvals show", "approvals vote", "approvals revoke"), "they find what `approvals list` shows"),
    "block": "it keeps facts of skills, and opens no catalog",
    "unblock": _NO_SKILLS,
    "inventory": [["inventory"], ["inventory", "--json"], ["inventory", "--skill", HIDDEN]],
    "access": "like why, it tells an administrator why a skill is hidden",
    **dict.fromkeys((f"machine {name}" for name in ("enroll", "run", "status")), _NO_SKILLS),
    **dict.fromkeys(
        (f"admin {name}" for name in ("init", "migrate", "status", "tenant", "token", "logout", "erase", "serve")),
        _NO_SKILLS,
    ),
    "policy replay": _NO_SKILLS,
    "policy push": _NO_SKILLS,
    "policy list": _NO_SKILLS,
    "policy remove": _NO_SKILLS,
    "admin unit": _NO_SKILLS,
    "machine unit": _NO_SKILLS,
    "feedback": [["feedback", HIDDEN, "good"]],
    "report": [["report"], ["report", "--json"], ["report", "--by", "skill,team", "--csv"]],
    "audit show": [["audit", "show", "--skill", HIDDEN], ["audit", "show", "--json", "--skill", HIDDEN]],
    "audit verify": _NO_SKILLS,
    "audit export": _NO_SKILLS,
    "audit checkpoint": _NO_SKILLS,
    "audit witness": _NO_SKILLS,
    "audit accept": _NO_SKILLS,
    "sandbox check": _NO_SKILLS,
    "config show": _NO_SKILLS,
    "doctor": [["doctor"], ["doctor", "--json"]],
    **dict.fromkeys(
        (
            *("add", "install", "lock check", "lock export", "lock import", "lock merge", "lock setup-git"),
            *("mirror", "outdated", "remove", "rollback", "store prune", "update", "use", "verify"),
        ),
        _LOCKS,
    ),
    **dict.fromkeys(
        ("deploy", "pack", "publish", "registry list", "registry refresh", "registry search", "registry serve", "sign"),
        _PATHS,
    ),
    **dict.fromkeys(("key forget", "key list", "key new", "key trust", "registry init"), _NO_SKILLS),
    **dict.fromkeys(("hosts", "registry forget", "registry trust", "revoke", "sync"), _NO_SKILLS),
    "completion": _NO_SKILLS,  # the completion of names, see below
}


def _commands() -> Iterator[str]:
    context = click.Context(click.Group())
    for name in COMMANDS:
        command = import_module(f"prowess.cli.commands.{name.replace('-', '_')}").command
        if isinstance(command, click.Group):
            yield from (f"{name} {below}" for below in command.list_commands(context))
        else:
            yield name


def test_every_command_is_considered() -> None:
    assert sorted(_CASES) == sorted(_commands())


@pytest.mark.proves("catalog.scope.load", "catalog.disabled.hides")
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", [words for cases in _CASES.values() if isinstance(cases, list) for words in cases])
def test_a_command_shows_no_trace(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    def printed(these: list[str]) -> str:
        code = run(these)
        return _unlike(f"{code}\n{''.join(capfd.readouterr())}")

    shown = printed(words)
    asked = any(HIDDEN in word for word in words)
    _shows_nothing(shown, asked=asked)
    if asked:  # the answer is the one for a name that never existed
        assert shown.replace(HIDDEN, UNKNOWN) == printed([word.replace(HIDDEN, UNKNOWN) for word in words])


@pytest.mark.usefixtures("home")
def test_why_alone_tells_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["why", HIDDEN]) == 1
    printed = capfd.readouterr().out
    assert HIDDEN in printed
    assert "[catalog.scope]" in printed or "[catalog.disabled]" in printed


@pytest.mark.measured_once
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", ["prowess load se", "prowess why se", "prowess run secret-zebra "])
def test_the_completion_of_names_shows_no_trace(words: str) -> None:
    at = str(len(words.split(" ")) - 1)
    ran = subprocess.run(
        [sys.executable, "-m", "prowess"],
        env={**os.environ, "_PROWESS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    _shows_nothing(ran.stdout + ran.stderr)
    assert ("secret-keeper" in ran.stdout) == words.endswith("se")


# ── sessions ────────────────────────────────────────────────────────────────────────────────────────────────

_TOOLS: dict[str, list[dict[str, object]]] = {
    "skills.load": [{"names": [HIDDEN]}, {"names": ["visible", HIDDEN], "mode": "add"}],
    "skills.unload": [{"names": [HIDDEN]}],
    "skills.read": [{"skill": HIDDEN, "path": "notes.md"}, {"path": "SKILL.md", "skill": HIDDEN}],
    "skills.run_script": [{"skill": HIDDEN, "path": "scripts/find.py"}],
    "skills.list": [{}, {"query": TASK}, {"query": HIDDEN}],
    "skill": [{"skill": HIDDEN}, {"skill": TASK}, {"skill_name": HIDDEN}],
}


@pytest.mark.anyio
@pytest.mark.proves("catalog.scope.load", "catalog.disabled.hides")
@pytest.mark.usefixtures("home")
async def test_no_tool_of_a_session_shows_a_trace() -> None:
    session = open_session(Catalog.discover())
    await session.load("visible")
    offered = {spec.name for exposure in EXPOSURE_NAMES for spec in session.tools(exposure=exposure)}
    assert offered <= set(_TOOLS)

    async def answered(tool: str, arguments: dict[str, object]) -> str:
        return _unlike(json.dumps((await session.call(tool, arguments)).as_dict(), ensure_ascii=False))

    for tool, cases in _TOOLS.items():
        for arguments in cases:
            asked = HIDDEN in json.dumps(arguments)
            shown = await answered(tool, arguments)
            _shows_nothing(shown, asked=asked)
            if asked:
                other = json.loads(json.dumps(arguments).replace(HIDDEN, UNKNOWN))
                assert shown.replace(HIDDEN, UNKNOWN) == await answered(tool, other)


@pytest.mark.anyio
@pytest.mark.usefixtures("home")
async def test_no_text_for_a_model_or_a_user_shows_a_trace() -> None:
    session = Session(Catalog.discover())
    for exposure in EXPOSURE_NAMES:
        _shows_nothing(session.instructions(exposure=exposure))
        _shows_nothing(repr(session.disclose(exposure=exposure)) + repr(session.cost(exposure=exposure)))
        _shows_nothing(repr(session.tools(exposure=exposure)))
        for shape in SHAPES:
            _shows_nothing(json.dumps(session.tools(shape, exposure=exposure), default=str))
    _shows_nothing(session.instructions(compact=TASK))
    _shows_nothing(repr((session.completions(), session.completions("secret"), session.completions("/se"))))
    for text in (HIDDEN, f"/{HIDDEN} now", f"${HIDDEN}"):
        with pytest.raises(SkillNotFoundError) as refused:
            await session.invoke(text)
        assert refused.value.reason is None
        assert HIDDEN not in refused.value.suggestions
        _shows_nothing(str(refused.value), asked=True)


@pytest.mark.anyio
@pytest.mark.usefixtures("home")
async def test_an_active_skill_that_becomes_hidden_is_gone_at_the_next_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog.discover()
    session = Session(catalog)
    await session.load("visible")
    monkeypatch.setenv("PROWESS_DISABLED", "visible,secret-z*")
    await session.refresh()
    assert session.active_skills == ()
    assert "visible" not in session.instructions()


_REQUESTS: dict[str, list[Mapping[str, object]]] = {
    "instructions": [{}, {"compact": TASK}, *({"exposure": name} for name in EXPOSURE_NAMES)],
    "tools": [{}, *({"shape": shape} for shape in SHAPES)],
    "invoke": [{"skill": HIDDEN}, {"skill": f"/{HIDDEN} x"}],
    "approve": [{"request": HIDDEN, "decision": "allow"}],
    "events": [{}],
    "close": [{}],
}


@pytest.mark.proves("catalog.scope.load", "catalog.disabled.hides")
@pytest.mark.usefixtures("home")
def test_no_answer_in_json_lines_shows_a_trace() -> None:
    assert sorted(_REQUESTS) == sorted(METHODS)
    calls: list[tuple[str, str, Mapping[str, object]]] = [
        ("tool", tool, arguments) for tool, cases in _TOOLS.items() for arguments in cases
    ]
    calls += [("method", method, arguments) for method, cases in _REQUESTS.items() for arguments in cases]
    session = SyncSession(Catalog.discover(), keep_events=100)
    session.offer_list()
    for kind, name, arguments in calls:
        line = json.dumps({"id": 1, kind: name, "arguments": arguments})
        _shows_nothing(answer(session, line.encode()).decode(), asked=HIDDEN in line)


@pytest.mark.measured_once
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("option", ["--events", "--decide"])
def test_the_command_session_shows_no_trace(option: str) -> None:
    lines = [
        {"id": 1, "method": "instructions"},
        {"id": 2, "tool": "skills.list", "arguments": {"query": TASK}},
        {"id": 3, "method": "tools"},
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "prowess", "session", option],
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert "secret-keeper" in ran.stdout
    _shows_nothing(ran.stdout + ran.stderr)


@pytest.mark.anyio
@pytest.mark.usefixtures("home")
async def test_no_request_of_an_agent_to_its_model_shows_a_trace(tmp_path: Path) -> None:
    requests: list[str] = []

    def turn(request: ModelRequest) -> str:
        requests.append(repr(request))
        return "Done."

    await Agent(ScriptedModel([turn]), catalog=Catalog.discover()).run(
        "Do it.", transcript=str(tmp_path / "transcript.jsonl")
    )
    _shows_nothing(requests[0] + (tmp_path / "transcript.jsonl").read_text())
    assert "secret-keeper" in requests[0]


# ── MCP ─────────────────────────────────────────────────────────────────────────────────────────────────────

_URI = f"skill://{HIDDEN}"
_MCP: dict[str, list[dict[str, object]] | str] = {
    "ping": [{}],
    "server/discover": [{}],
    "prompts/list": [{}],
    "prompts/get": [{"name": HIDDEN}],
    "resources/list": [{}],
    "resources/templates/list": [{}],
    "resources/read": [
        {"uri": f"{_URI}/SKILL.md"},
        {"uri": f"{_URI}/notes.md"},
        {"uri": f"{_URI}/scripts/find.py"},
        {"uri": "skill://index.json"},
    ],
    "subscriptions/listen": "it announces that a list has changed, and nothing of what is in it",
    "tools/list": [{}],
    "tools/call": [
        {"name": tool.replace(".", "_"), "arguments": arguments}
        for tool, cases in _TOOLS.items()
        for arguments in cases
    ],
    "skills/list": [{}],
    "skills/get": [{"uri": f"{_URI}/SKILL.md"}, {"name": HIDDEN}],
    "resources/directory/read": [{"uri": _URI}, {"uri": f"{_URI}/scripts"}, {"uri": "skill://"}],
}


@pytest.mark.anyio
@pytest.mark.proves("catalog.scope.load", "catalog.disabled.hides")
@pytest.mark.usefixtures("home")
async def test_no_request_of_mcp_shows_a_trace() -> None:
    server = build_server(open_session(Catalog.discover()))
    assert sorted(_MCP) == sorted(server._request_handlers)  # the SDK has no public list of them
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    async with MessageChannel(server) as channel:

        async def answered(number: int, method: str, params: dict[str, object]) -> str:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            found = await channel.ask(message)
            found.pop("id")
            return _unlike(json.dumps(found, ensure_ascii=False, default=str))

        first = await answered(1, "initialize", dict(start))
        assert "secret-keeper" in first
        _shows_nothing(first)
        number = 1
        for method, cases in _MCP.items():
            for params in cases if isinstance(cases, list) else []:
                asked = HIDDEN in json.dumps(params)
                shown = await answered(number := number + 1, method, params)
                _shows_nothing(shown, asked=asked)
                if asked:
                    other = json.loads(json.dumps(params).replace(HIDDEN, UNKNOWN))
                    expected = await answered(number := number + 1, method, other)
                    assert shown.replace(HIDDEN, UNKNOWN) == expected


# ── Python ──────────────────────────────────────────────────────────────────────────────────────────────────

_ADAPTERS = {
    "skill_contents": "tested below",
    "agentskills_core": "reads through `SkillContents`",
    "hosted": "tools and instructions of a session, tested above",
    "langchain": "tools and instructions of a session, tested above",
    "openai_agents": "tools and instructions of a session, tested above",
    "pydantic_ai": "tools and instructions of a session, tested above",
    "dask": "it hands work that its callers give it to other processes, and opens no catalog",
    "opentelemetry": "events of a session, which name only skills that were loaded",
}


@pytest.mark.usefixtures("home")
def test_no_adapter_shows_a_trace() -> None:
    assert sorted(_ADAPTERS) == sorted(module.name for module in iter_modules(prowess.adapters.__path__))
    contents = SkillContents(Catalog.discover())
    assert contents.names() == ["secret-keeper", "visible"]
    readers: list[Callable[[], object]] = [
        lambda: contents.frontmatter(HIDDEN),
        lambda: contents.body(HIDDEN),
        lambda: contents.paths(HIDDEN),
        lambda: contents.below(HIDDEN, "scripts"),
        lambda: contents.file(HIDDEN, "notes.md"),
    ]
    for read in readers:
        with pytest.raises(SkillError) as refused:
            read()
        _shows_nothing(str(refused.value), asked=True)


_FACES: dict[str, Callable[[Catalog], object] | str] = {
    "all_entries": Catalog.all_entries,
    "at_rest": "it takes an entry",
    "audience": lambda catalog: catalog.audience,
    "diagnostics": lambda catalog: catalog.diagnostics,
    "discover": "it makes a catalog",
    "entries": lambda catalog: (catalog.entries(), catalog.entries(prefix="secret"), catalog.entries(tags=["okapi"])),
    "every_source": lambda catalog: [source.named for source in catalog.every_source],
    "find": lambda catalog: (catalog.find(HIDDEN), catalog.find(f"{HIDDEN}@x"), catalog.find(f"x/{HIDDEN}")),
    "generation": lambda catalog: catalog.generation,
    "get": lambda catalog: _refusal(catalog.get),
    "knows_copy": lambda catalog: (catalog.knows_copy(HIDDEN), catalog.knows_copy(f"x/{HIDDEN}")),
    "last_scan": "it has the stamps of files, for `watch` and `refresh`",
    "look_again": "it returns nothing",
    "match": lambda catalog: (catalog.match(TASK), catalog.match(f"/{HIDDEN}"), catalog.match(TASK, bodies=True)),
    "notices": lambda catalog: catalog.notices,
    "problems": lambda catalog: catalog.problems,
    "rankings": "`match` asks it",
    "refresh": "it returns nothing",
    "seen_by": "it makes a catalog",
    "skill": lambda catalog: _refusal(catalog.skill),
    "sources": lambda catalog: [source.named for source in catalog.sources],
    "warned_files": lambda catalog: catalog.warned_files,
    "watch": "tested below",
    "why": "it is the one answer that tells why a skill is hidden",
}


def _refusal(read: Callable[[str], Any]) -> str:
    with pytest.raises(SkillNotFoundError) as refused:
        read(HIDDEN)
    return repr((refused.value.reason, refused.value.suggestions))


@pytest.mark.usefixtures("home")
def test_no_method_of_a_catalog_shows_a_trace() -> None:
    catalog = Catalog.discover()
    public = {name for name in vars(Catalog) if not name.startswith("_")}
    assert set(_FACES) == public
    for face in _FACES.values():
        if not isinstance(face, str):
            _shows_nothing(repr(face(catalog)))
    assert catalog.warned_files == 0


def test_watching_tells_nothing_of_it(home: Path) -> None:
    catalog = Catalog.discover()
    seen: list[str] = []
    stop = False

    def watch() -> None:
        for batch in catalog.watch(stopped=lambda: stop):
            seen.extend(change.name for change in batch)
            if "visible" in seen:
                return

    thread = Thread(target=watch, daemon=True)
    thread.start()
    skills = home / ".prowess" / "skills"
    for _ in range(40):
        for name in (HIDDEN, "visible"):
            with (skills / name / "SKILL.md").open("a", encoding="utf-8") as file:
                file.write("More.\n")
        thread.join(0.5)
        if not thread.is_alive():
            break
    stop = True
    thread.join(10)
    assert set(seen) == {"visible"}
