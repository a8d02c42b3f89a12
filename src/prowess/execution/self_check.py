"""Test the sandbox of this machine: try to escape and to exceed its limits, and check the effects from outside.

An escape counts as stopped only if the probe reports so *and* the host saw no effect: no connection, no datagram, no
dead process, no file. A limit counts as enforced only if exceeding it had the promised effect.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import ExecutionError
from prowess.execution.environment import base_environment
from prowess.execution.request import MEBIBYTE, ExecLimits, ExecRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.execution.result import ExecResult
    from prowess.execution.sandbox import Sandbox, SandboxReport

_PROBES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")
_ROUNDS = 10
_PROMPT_SECONDS = 20.0  # the probes sleep 30 seconds; on a busy machine a run takes some seconds


class Finding(Struct, frozen=True, kw_only=True):
    """Result of one attempt. `held`: whether the sandbox stopped it; None if this machine cannot enforce the limit."""

    name: str
    held: bool | None
    detail: str = ""


class SelfCheck(Struct, frozen=True, kw_only=True):
    """Results of all attempts on this machine.

    `overhead_ms` is the median extra time of a sandboxed process, compared with a plain process that does no work.
    """

    report: SandboxReport
    escapes: tuple[Finding, ...]
    limits: tuple[Finding, ...]
    overhead_ms: float

    @property
    def passed(self) -> bool:
        """Whether every escape was stopped and every limit that this machine can enforce was enforced."""
        return all(finding.held is not False for finding in (*self.escapes, *self.limits))


async def check_sandbox(sandbox: Sandbox) -> SelfCheck:
    """Run every probe in `sandbox`, which must be available. Takes some seconds.

    Raises:
        SandboxUnavailableError: the sandbox cannot start.
        ScriptUnsupportedError: the sandbox has no Python to run the probes.
    """
    with _staged() as stage:
        return SelfCheck(
            report=sandbox.probe(),
            escapes=await _escapes(sandbox, stage),
            limits=await _limits(sandbox, stage),
            overhead_ms=await _overhead(sandbox, stage),
        )


@contextlib.contextmanager
def _staged() -> Iterator[_Stage]:
    with tempfile.TemporaryDirectory(prefix="prowess-check-") as base:
        stage = _Stage(base=base, token=f"prowess-probe-{secrets.token_hex(8)}")
        for name in ("skill", "workspace", "outside"):
            os.mkdir(stage.path(name))
        for name in ("escape.py", "limits.py"):
            shutil.copy(os.path.join(_PROBES, name), stage.path("skill", name))
        with open(os.open(stage.path("secret"), os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write(stage.token)
        os.symlink(stage.path("secret"), stage.path("workspace", "link"))
        yield stage


class _Stage(Struct, frozen=True, kw_only=True):
    """A temporary directory with the targets of the probes: a skill, a workspace, a secret file, listening sockets."""

    base: str
    token: str

    def path(self, *parts: str) -> str:
        return os.path.join(self.base, *parts)

    @contextlib.contextmanager
    def targets(self) -> Iterator[_Targets]:
        with contextlib.ExitStack() as opened:
            tcp = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
            udp = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            udp.bind(("127.0.0.1", 0))
            named = opened.enter_context(socket.socket(socket.AF_UNIX))
            named.bind(self.path("socket"))
            abstract = opened.enter_context(socket.socket(socket.AF_UNIX))
            abstract.bind(f"\0{self.token}")
            for listener in (named, abstract):
                listener.listen()
            victim = subprocess.Popen(["/bin/sh", "-c", "read line", self.token], stdin=subprocess.PIPE, cwd="/")
            try:
                yield _Targets(tcp=tcp, udp=udp, named=named, abstract=abstract, victim=victim)
            finally:
                victim.kill()
                victim.communicate()


class _Targets(Struct, frozen=True, kw_only=True):
    tcp: socket.socket
    udp: socket.socket
    named: socket.socket
    abstract: socket.socket
    victim: subprocess.Popen[bytes]

    def facts(self, stage: _Stage) -> dict[str, object]:
        return {
            "secret": stage.path("secret"),
            "outside": stage.path("outside"),
            "link": "link",
            "socket": stage.path("socket"),
            "abstract": stage.token,
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "victim": self.victim.pid,
            "token": stage.token,
            "names": [*base_environment(session_id="", workspace=True), "PWD", "LC_CTYPE"],
        }

    def seen(self, stage: _Stage) -> dict[str, str]:
        """Return the effects that the host noticed, by the name of the attempt."""
        seen = {}
        for name, target in (("tcp", self.tcp), ("path-socket", self.named), ("abstract-socket", self.abstract)):
            if _arrived(target, socket.socket.accept):
                seen[name] = "a connection arrived on the host"
        if _arrived(self.udp, lambda target: target.recv(16)):
            seen["udp"] = "a datagram arrived on the host"
        if self.victim.poll() is not None:
            seen["signal-process"] = "a process of the host is dead"
        if os.listdir(stage.path("outside")):
            seen["write-outside"] = "a file appeared on the host"
        return seen


def _arrived(target: socket.socket, receive: Callable[[socket.socket], object]) -> bool:
    target.setblocking(False)  # noqa: FBT003 -- the method's name explains the flag
    try:
        received = receive(target)
    except BlockingIOError:
        return False
    if isinstance(received, tuple):
        received[0].close()
    return True


async def _escapes(sandbox: Sandbox, stage: _Stage) -> tuple[Finding, ...]:
    with stage.targets() as targets:
        result = await sandbox.run(
            ExecRequest(
                skill_dir=stage.path("skill"),
                script="escape.py",
                args=(json.dumps(targets.facts(stage)),),
                workspace=stage.path("workspace"),
            ),
        )
        seen = targets.seen(stage)
    try:
        said: dict[str, str | None] = json.loads(result.stdout)
    except ValueError:
        raise ExecutionError(f"the probe did not finish: {result.stderr.decode('utf-8', 'replace')}") from None
    return tuple(
        Finding(name=name, held=not (outcome or name in seen), detail=outcome or seen.get(name, ""))
        for name, outcome in said.items()
    )


class _LimitProbe(Struct, frozen=True, kw_only=True):
    """Exceed the limit `bound` with an action of `probes/limits.py`; `holds` checks the result."""

    bound: str
    action: str
    limits: ExecLimits
    holds: Callable[[ExecResult], bool]


def _probe(bound: str, action: str, limits: ExecLimits, holds: Callable[[ExecResult], bool]) -> _LimitProbe:
    return _LimitProbe(bound=bound, action=action, limits=limits, holds=holds)


def _within(most: int) -> Callable[[ExecResult], bool]:
    """Return a function that checks the number printed by the probe: the amount it reached before it was stopped."""
    return lambda result: 0 < int(result.stdout or b"0") <= most


def _prompt(result: ExecResult) -> bool:
    return result.duration_ms < _PROMPT_SECONDS * 1000


_FEW = 4 * MEBIBYTE
_CPU_PROBE_SECONDS = 60.0  # on a busy machine one second of processor time takes many seconds
_LIMIT_PROBES = (
    _probe("wall_time", "wall", ExecLimits(wall_seconds=0.3), lambda result: result.timed_out and _prompt(result)),
    _probe(
        "cpu_time",
        "cpu",
        ExecLimits(cpu_seconds=1, wall_seconds=_CPU_PROBE_SECONDS),
        lambda result: not result.timed_out and result.exit_code != 0,
    ),
    _probe(
        "output_size",
        "output",
        ExecLimits(output_bytes=MEBIBYTE),
        lambda result: len(result.stdout) == MEBIBYTE and result.stdout_bytes == _FEW,
    ),
    _probe("file_size", "file", ExecLimits(file_bytes=_FEW), _within(_FEW)),
    _probe("tmp_size", "tmp", ExecLimits(tmp_bytes=_FEW), _within(_FEW)),
    _probe("out_size", "out", ExecLimits(out_bytes=_FEW), _within(_FEW)),
    _probe("process_tree", "tree", ExecLimits(), lambda result: result.stdout == b"started" and _prompt(result)),
    _probe("open_files", "open-files", ExecLimits(open_files=64), _within(63)),
    _probe("processes", "forks", ExecLimits(processes=32), _within(31)),
    _probe(
        "memory",
        "memory",
        ExecLimits(memory_bytes=128 * MEBIBYTE),
        lambda result: result.exit_code != 0 and not result.stdout,
    ),
)


async def _limits(sandbox: Sandbox, stage: _Stage) -> tuple[Finding, ...]:
    return tuple([await _limit(sandbox, stage, probe) for probe in _LIMIT_PROBES])


async def _limit(sandbox: Sandbox, stage: _Stage, probe: _LimitProbe) -> Finding:
    result = await sandbox.run(
        ExecRequest(
            skill_dir=stage.path("skill"),
            script="limits.py",
            args=(probe.action, stage.token),
            limits=probe.limits,
        ),
    )
    if why := dict(result.guarantees.not_enforced).get(probe.bound):
        return Finding(name=probe.bound, held=None, detail=why)
    if _alive(stage.token):
        return Finding(name=probe.bound, held=False, detail="a process of the run was left alive")
    held = probe.holds(result)
    return Finding(name=probe.bound, held=held, detail="" if held else _outcome(result))


def _outcome(result: ExecResult) -> str:
    said = result.stdout[:40].decode("utf-8", "replace")
    return f"status {result.exit_code} after {result.duration_ms} ms, {result.stdout_bytes} bytes: {said}"


def _alive(token: str) -> bool:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                if token.encode() in file.read():
                    return True
    return False


async def _overhead(sandbox: Sandbox, stage: _Stage) -> float:
    request = ExecRequest(skill_dir=stage.path("skill"), script="limits.py", interpreter=("/usr/bin/true",))
    plain, inside = [], []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        subprocess.run(["/usr/bin/true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: ASYNC221 -- this call is measured
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        await sandbox.run(request)
        inside.append(time.perf_counter() - began)
    return round((statistics.median(inside) - statistics.median(plain)) * 1000, 1)
