from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.files import file_mark
from prowess.audit.log import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.policy import Policy
from prowess.runtime import Session
from prowess.store import MemorySessionStore
from prowess.tools import ToolSpec
from tests.runtime.making import codes, failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.tools import ToolCall

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here"),
]

# Appends the event it is told of to a file in the workspace, so that tests see what ran and in which order.
NOTE = """\
import json, os, sys
told = json.load(sys.stdin)
with open(os.path.join(os.environ["WORKSPACE"], "ran"), "a") as file:
    print(sys.argv[1] if len(sys.argv) > 1 else "note", told["event"], told["skill"], told.get("tool", "-"), file=file)
"""
FAIL = "import sys\nprint('not today')\nprint('because', file=sys.stderr)\nsys.exit(3)\n"
SCRIPTS = {"scripts/note.py": NOTE, "scripts/fail.py": FAIL, "scripts/slow.py": "import time\ntime.sleep(20)\n"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "skills"


def _session(root: Path, work: Path, **options: Any) -> Session:  # noqa: ANN401 -- handed on to Session
    return Session(Catalog(root), workspace=work, write=True, **options)


def _hooked(root: Path, name: str, hooks: str, **files: str) -> Path:
    return write_skill(root, name, extra=f"hooks:\n{hooks}", files={**SCRIPTS, **files})


def _ran(work: Path) -> list[str]:
    file = work / "ran"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.proves("runtime.hooks.pre", "runtime.hooks.sandbox")
async def test_a_pre_hook_runs_in_the_sandbox_before_the_skill_is_active_and_is_recorded(
    root: Path, work: Path, tmp_path: Path
) -> None:
    proof = "import json, os, sys\nprint(os.path.exists('/etc/passwd'), os.environ.get('SECRET'))\n" + NOTE
    _hooked(root, "a", "  pre: scripts/proof.py\n", **{"scripts/proof.py": proof})
    log = tmp_path / "audit.jsonl"
    session = _session(root, work, audit=JsonlAuditLog(log))

    assert names(await session.load(["a"])) == ["a"]

    assert _ran(work) == ["note pre a -"]
    records = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [record["kind"] for record in records]
    assert kinds == ["tool.started", "hook.started", "hook.finished", "skill.loaded", "tool.finished"]


class _Other:
    spec = ToolSpec(name="other", description="Something else.", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        return {}


@pytest.mark.proves("runtime.activate.order")
async def test_activation_goes_through_its_steps_in_order(root: Path, work: Path) -> None:
    """Closed, refused by policy, refused by a hook, active and restricted, finished: each step before the next."""
    restricted = "allowed-tools: Read\n"
    hooks = "hooks:\n  pre: scripts/check.py\n  post: scripts/note.py\n"
    check = NOTE + "sys.exit(0 if os.path.exists('/workspace/key') else 1)\n"
    files = {**SCRIPTS, "scripts/check.py": check}
    write_skill(root, "a", extra=restricted + hooks, files=files)
    write_skill(root, "closed", extra="disable-model-invocation: true\n" + hooks, files=files)
    denied = _session(root, work, policy=Policy(fault="the file cannot be read"))
    session = _session(root, work, extra_tools=[_Other()])

    assert failure(await session.call("skills.load", {"names": ["closed"]}))["code"] == "skill_not_found"
    assert failure(await denied.call("skills.load", {"names": ["a"]}))["code"] == "policy_invalid"
    assert _ran(work) == []
    assert failure(await session.call("skills.load", {"names": ["a"]}))["code"] == "hook_failed"
    assert "Body of a" not in session.instructions()
    assert (await session.call("other", {})).success

    (work / "key").touch()
    await session.load(["a"])
    assert "Body of a" in session.instructions()
    assert failure(await session.call("other", {}))["code"] == "tool_not_allowed"
    await session.unload(["a"])
    assert _ran(work) == ["note pre a -", "note pre a -", "note post a -"]
    assert (await session.call("other", {})).success


@pytest.mark.proves("runtime.hooks.pre-failure")
async def test_a_failing_pre_hook_stops_the_activation_shows_its_output_and_changes_nothing(
    root: Path, work: Path
) -> None:
    write_skill(root, "plain")
    _hooked(root, "ok", "  pre: scripts/note.py\n  post: scripts/note.py\n")
    _hooked(root, "bad", "  pre: scripts/fail.py\n")
    session = _session(root, work)
    await session.load(["plain"])
    before = session._parts.stored.state

    for arguments in ({"names": ["bad"]}, {"names": ["ok", "bad"], "mode": "add"}):
        wrong = failure(await session.call("skills.load", arguments))
        assert wrong["code"] == "hook_failed"
        assert "ended with status 3: not today\nbecause" in wrong["message"].replace("\\n", "\n")
        assert "Body of bad" not in wrong["message"]
    assert failure(await session.call("skill", {"skill": "bad"}))["code"] == "hook_failed"

    assert session._parts.stored.state == before
    # What was prepared for an activation that did not come is cleaned up.
    assert _ran(work) == ["note pre ok -", "note post ok -"]


@pytest.mark.proves("runtime.hooks.post")
@pytest.mark.parametrize("end", ["unload", "all", "replace", "close"])
async def test_a_post_hook_runs_once_when_the_skill_has_finished(root: Path, work: Path, end: str) -> None:
    _hooked(root, "a", "  post: scripts/note.py\n")
    write_skill(root, "b")
    session = _session(root, work)
    await session.load(["a"])
    await session.load(["a", "b"])
    assert _ran(work) == []
    if end == "replace":
        await session.load(["b"])
    elif end != "close":
        await session.unload(["a"] if end == "unload" else [], all=end == "all")
    await session.close()
    assert _ran(work) == ["note post a -"]


@pytest.mark.proves("runtime.hooks.post-failure")
async def test_a_failing_post_hook_is_reported_and_keeps_nothing_in_force(
    root: Path, work: Path, tmp_path: Path
) -> None:
    _hooked(root, "a", "  post: scripts/fail.py\n")
    log = tmp_path / "audit.jsonl"
    session = _session(root, work, audit=JsonlAuditLog(log))
    await session.load(["a"])
    receipt = await session.unload(["a"])
    assert names(receipt) == []
    assert codes(receipt) == ["hook_failed"]
    assert "hook.failed" in [json.loads(line)["kind"] for line in log.read_text().splitlines()]
    assert session._parts.restrictions.of(session._parts.stored.state) == ()


@pytest.mark.proves("runtime.hooks.post")
async def test_a_post_hook_is_run_as_it_was_loaded_even_after_an_edit(root: Path, work: Path) -> None:
    directory = _hooked(root, "a", "  pre: scripts/note.py\n  post: scripts/note.py\n")
    session = _session(root, work)
    await session.load(["a"])
    (directory / "scripts" / "note.py").write_text("raise SystemExit(9)\n")
    assert codes(await session.unload(["a"])) == []
    assert _ran(work) == ["note pre a -", "note post a -"]


EVENTS = """\
  PreToolUse:
    - matcher: "skills.read|skills_run_*"
      hooks:
        - type: command
          command: ./scripts/note.py first
        - type: command
          command: python3 scripts/note.py second
    - {script: scripts/note.py, matcher: Other}
  PostToolUse:
    - {command: scripts/note.py after, matcher: skills.read}
  PostToolUseFailure: {command: scripts/note.py failed, matcher: skills.read}
  Stop: scripts/note.py
"""


@pytest.mark.proves("runtime.hooks.really-run")
async def test_event_hooks_run_in_their_order_for_the_tools_that_they_match(root: Path, work: Path) -> None:
    _hooked(root, "a", EVENTS, **{"notes.md": "n\n"})
    session = _session(root, work)
    await session.load(["a"])
    result(await session.call("skills.read", {"path": "notes.md"}))
    await session.call("skills.read", {"path": "nothing.md"})
    assert _ran(work) == [
        "first PreToolUse a skills.read",
        "second PreToolUse a skills.read",
        "after PostToolUse a skills.read",
        "first PreToolUse a skills.read",
        "second PreToolUse a skills.read",
        "failed PostToolUseFailure a skills.read",
    ]
    assert await session.fire("Stop", reason="done") == []
    assert _ran(work)[-1] == "note Stop a -"


@pytest.mark.proves("runtime.hooks.really-run")
async def test_a_failing_event_hook_blocks_its_own_call_and_no_other(root: Path, work: Path) -> None:
    _hooked(root, "a", "  PreToolUse: scripts/fail.py\n", **{"notes.md": "n\n"})
    _hooked(root, "b", "  PostToolUse: {script: scripts/fail.py, matcher: skills.read}\n", **{"notes.md": "n\n"})
    session = _session(root, work)
    await session.load(["a"])
    assert failure(await session.call("skills.read", {"path": "notes.md"}))["code"] == "hook_failed"
    assert names(await session.unload(["a"])) == []  # a skill can always be got rid of

    await session.load(["b"])
    done = result(await session.call("skills.read", {"path": "notes.md"}))
    assert done["text"] == "n\n"
    assert codes(done) == ["hook_failed"]
    assert [failed.event for failed in await session.fire("Stop")] == []


@pytest.mark.proves("runtime.hooks.really-run")
async def test_a_hook_that_runs_once_runs_once_a_session_and_guards_until_it_has_passed(root: Path, work: Path) -> None:
    check = NOTE + "sys.exit(0 if os.path.exists('/workspace/key') else 1)\n"
    hooks = "  pre: {script: scripts/check.py, once: true}\n"
    _hooked(root, "a", hooks, **{"scripts/check.py": check})
    store = MemorySessionStore()
    session = _session(root, work, store=store, session_id="one")
    for _ in range(2):
        assert failure(await session.call("skills.load", {"names": ["a"]}))["code"] == "hook_failed"
    (work / "key").touch()
    await session.load(["a"])
    await session.unload(["a"])
    await session.load(["a"])
    continued = _session(root, work, store=store, session_id="one")
    await continued.unload(all=True)
    await continued.load(["a"])
    assert len(_ran(work)) == 3


async def test_each_hook_that_runs_once_has_a_mark_of_its_own(root: Path, work: Path) -> None:
    """Two of one event, one of another event, one of another skill: each runs, and each runs once."""
    once = "{{command: python3 scripts/note.py {}, once: true}}"
    pre = f"  pre:\n    - {once.format('one')}\n    - {once.format('two')}\n"
    _hooked(root, "a", f"{pre}  PostToolUse:\n    - {once.format('three')}\n", **{"notes.md": "n\n"})
    _hooked(root, "b", f"  pre:\n    - {once.format('four')}\n")
    store = MemorySessionStore()
    for _ in range(2):
        session = _session(root, work, store=store, session_id="one")
        for _ in range(2):
            await session.load(["a", "b"])
            result(await session.call("skills.read", {"skill": "a", "path": "notes.md"}))
            await session.unload(all=True)
    assert sorted(line.split()[0] for line in _ran(work)) == ["four", "one", "three", "two"]


async def test_what_leaves_for_a_skill_that_lies_still_is_told_to_its_hooks(
    root: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)  # as if every file had been left alone for long
    write_skill(root, "plain")
    _hooked(root, "a", "  post: scripts/note.py\n")
    session = _session(root, work)
    for times in (1, 2):
        await session.load(["plain"])
        await session.load(["a"])
        await session.load(["plain"])
        assert _ran(work) == ["note post a -"] * times


_NEVER_LOOKS = [
    ("skills.read", {"path": "../x"}),
    ("skill", {}),
    ("skill", {"skill": "nobody"}),
    ("skills.load", {"names": ["plain", "a"], "location": "nowhere"}),
]


@pytest.mark.parametrize(("name", "arguments"), _NEVER_LOOKS)
async def test_after_a_call_that_fails_before_it_looks_the_hooks_are_those_of_what_is_active(
    root: Path, work: Path, name: str, arguments: dict[str, object]
) -> None:
    write_skill(root, "plain")
    _hooked(root, "a", "  PostToolUseFailure: scripts/note.py\n")
    store, catalog = MemorySessionStore(), Catalog(root)
    one, two = (Session(catalog, store=store, session_id="s", workspace=work, write=True) for _ in range(2))
    await one.load(["plain"])
    await two.load(["a"], "add")
    assert not (await one.call(name, arguments)).success
    assert _ran(work) == [f"note PostToolUseFailure a {name}"]

    await two.unload(["a"])
    assert not (await one.call(name, arguments)).success
    await two.load(["a"], "add")
    (root / "a" / "SKILL.md").write_text("Withdrawn: do not use.\n")
    catalog.refresh()  # its scripts are there still
    assert not (await one.call(name, arguments)).success
    assert [skill.name for skill in one.active_skills] == ["plain"]
    assert len(_ran(work)) == 1


async def test_a_hook_out_of_time_has_failed(root: Path, work: Path) -> None:
    _hooked(root, "a", "  pre: {script: scripts/slow.py, timeout: 200ms}\n")
    wrong = failure(await _session(root, work).call("skills.load", {"names": ["a"]}))
    assert "timed out" in wrong["message"]


@pytest.mark.proves("runtime.hooks.missing")
@pytest.mark.parametrize(
    ("hooks", "says"),
    [
        ("  pre: scripts/missing.py\n", "does not contain"),
        ("  post: scripts/missing.py\n", "does not contain"),
        ("  Stop: scripts/missing.py\n", "does not contain"),
        ("  pre: {command: ./missing.sh now}\n", "does not contain"),
        ("  PreToolUse: {command: 'echo a | cat'}\n", "needs a shell"),
        ("  pre: ../outside.sh\n", "cannot be read"),
        ("  post: |\n  pre: scripts/missing.py\n", "does not contain"),  # the empty block ends before the guard
        ("  PreTolUse: scripts/note.py\n", "cannot be read"),
    ],
)
async def test_a_hook_that_cannot_be_run_is_never_passed_over(root: Path, work: Path, hooks: str, says: str) -> None:
    _hooked(root, "a", hooks)
    session = _session(root, work)
    outcome = await session.call("skills.load", {"names": ["a"]})
    assert not outcome.success
    wrong = failure(outcome)
    assert wrong["code"] == "hook_failed"
    assert says in wrong["message"]
    assert session.active_skills == ()


async def test_without_scripts_a_skill_with_hooks_is_refused(root: Path, work: Path) -> None:
    _hooked(root, "a", "  post: scripts/note.py\n")
    wrong = failure(await _session(root, work, scripts=False).call("skills.load", {"names": ["a"]}))
    assert "scripts are switched off" in wrong["message"]


async def test_an_edited_live_skill_with_hooks_has_to_be_loaded_again(root: Path, work: Path) -> None:
    _hooked(root, "a", "  pre: scripts/note.py\n", **{"notes.md": "n\n"})
    session = Session(Catalog(root, live=True), workspace=work, write=True)
    await session.load(["a"])
    _hooked(root, "a", "  pre: scripts/fail.py\n", **{"notes.md": "other\n"})
    await session.refresh()
    assert failure(await session.call("skills.read", {"path": "notes.md"}))["code"] == "digest_changed"
    assert failure(await session.call("skills.load", {"names": ["a"]}))["code"] == "hook_failed"


@pytest.mark.proves("runtime.hooks.post")
async def test_a_post_hook_runs_once_when_an_expired_session_is_found(root: Path, work: Path, tmp_path: Path) -> None:
    _hooked(root, "a", "  post: scripts/note.py\n  SessionEnd: scripts/note.py\n")
    _hooked(root, "b", "  pre: {script: scripts/note.py, once: true}\n  post: {script: scripts/note.py, once: true}\n")
    now = [0.0]
    store = MemorySessionStore()
    log = tmp_path / "audit.jsonl"
    options: dict[str, Any] = {
        "store": store, "session_id": "s", "ttl_seconds": 10, "clock": lambda: now[0], "audit": JsonlAuditLog(log),
    }  # fmt: skip
    session, other = _session(root, work, **options), _session(root, work, **options)
    await session.load(["a", "b"])
    await other.refresh()
    now[0] = 11

    for holder in (session, other):
        gone = failure(await holder.call("skills.unload", {"all": True}))
        assert gone["code"] == "session_not_found"
    assert _ran(work) == ["note pre b -", "note SessionEnd a -", "note post a -", "note post b -"]
    assert [json.loads(line)["kind"] for line in log.read_text().splitlines()].count("hook.finished") == 4


@pytest.mark.parametrize("how", ["removed", "replaced", "expired"])
async def test_a_skill_that_the_catalog_drops_runs_nothing_more_and_that_is_said(
    root: Path, work: Path, tmp_path: Path, how: str
) -> None:
    directory = _hooked(root, "a", "  post: scripts/note.py\n")
    write_skill(root, "b")
    log, now = tmp_path / "audit.jsonl", [0.0]
    session = _session(root, work, audit=JsonlAuditLog(log), ttl_seconds=10, clock=lambda: now[0])
    await session.load(["a", "b"])
    if how == "removed":
        (directory / "SKILL.md").unlink()
    else:
        (directory / "SKILL.md").write_text("nothing")
        session.catalog.refresh()
    if how == "expired":
        now[0] = 11
        assert failure(await session.call("skills.unload", {"all": True}))["code"] == "session_not_found"
    else:
        receipt = result(await session.call("skills.unload", {"names": ["b"]}))
        assert [notice["code"] for notice in receipt["notices"]] == ["skill_removed"]
        assert "its post hooks were not run" in receipt["notices"][0]["message"]

    assert _ran(work) == []
    failed = [json.loads(line) for line in log.read_text().splitlines() if '"hook.failed"' in line]
    said = [{name: record["data"][name] for name in ("skill", "event", "code")} for record in failed]
    assert said == [{"skill": "a", "event": "post", "code": "skill_not_found"}]


async def test_a_setting_of_a_hook_that_cannot_be_read_makes_it_run_and_not_refuse(root: Path, work: Path) -> None:
    _hooked(root, "a", "  pre: {script: scripts/note.py, timeout: soon, once: perhaps, colour: red}\n")
    session = _session(root, work)

    await session.load(["a"])
    await session.unload(["a"])
    await session.load(["a"])

    assert _ran(work) == ["note pre a -"] * 2
