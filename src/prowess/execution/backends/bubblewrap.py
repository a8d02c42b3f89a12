"""Run scripts in bubblewrap: separate namespaces, a separate file system, and no capabilities.

A run has three steps. First bubblewrap builds the sandbox and stops before it starts the script. While it waits, limits
are set on its first process, and /out, which exists only in memory, is opened from outside. Then the script is
released. So every limit is enforced from the script's first instruction, and /out can be read after the sandbox has
ended.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
from msgspec import structs

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess.errors import InvalidArgumentsError, SandboxUnavailableError, ScriptUnsupportedError, SkillError
from prowess.execution.artifacts import collect
from prowess.execution.attended import attended
from prowess.execution.backends.bubblewrap_options import Layout
from prowess.execution.backends.bubblewrap_start import Started, hint_from, start
from prowess.execution.backends.start_gate import end_orphans, limits_of_gate
from prowess.execution.backends.syscall_filter import syscall_filter
from prowess.execution.bounds import killed_by, set_bounds
from prowess.execution.cgroup import ControlGroup
from prowess.execution.environment import PRIVATE_DIRECTORY, base_environment, check_environment, check_mounts
from prowess.execution.guarantees import guarantees_of
from prowess.execution.interpreters import (
    Interpreter,
    carriage_returns,
    command_interpreter,
    missing_package,
    select_interpreter,
)
from prowess.execution.request import ALL_STRINGS, LONGEST_STRING
from prowess.execution.result import ExecNotice, ExecResult
from prowess.execution.sandbox import SandboxReport
from prowess.execution.supervision import Capture, supervise
from prowess.execution.workspace import usable_workspace
from prowess.execution.writable_workspace import writable_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prowess.execution.interpreters import InterpreterMount
    from prowess.execution.request import ExecRequest
    from prowess.execution.result import Artifact
    from prowess.execution.supervision import Ending

BACKEND = "bubblewrap"
PROGRAMS = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")

_SHEBANG_BYTES = 512
_LOOKED_AT = 64 * 1024  # bytes of a failed script that are searched for CRLF line ends
_KILLED = 137
_PROBE_COMMAND = ("/usr/bin/true",)
_PROBE_SECONDS = 10.0
_RUNS_AT_ONCE = 64
# A separate thread limit: scripts that run for minutes must not delay the threads that read files and stores.
_limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("prowess_script_threads")


class BubblewrapSandbox:
    """The sandbox for Linux.

    `program` is the absolute path of a bubblewrap to use instead of the default one; the program is never looked up in
    PATH. `extensions` and `interpreters` extend the interpreter table (see
    `prowess.execution.interpreters.select_interpreter`).
    """

    def __init__(
        self,
        *,
        program: str | None = None,
        extensions: Mapping[str, str] | None = None,
        interpreters: Mapping[str, InterpreterMount] | None = None,
    ) -> None:
        if program is not None and not os.path.isabs(program):
            raise InvalidArgumentsError((f"the path of bubblewrap must be absolute, not {program!r}",))
        self._programs = PROGRAMS if program is None else (program,)
        self._extensions, self._interpreters = dict(extensions or {}), dict(interpreters or {})
        self._found: tuple[str, str] | None = None
        self._report: SandboxReport | None = None

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run the script; see `prowess.execution.sandbox.Sandbox`."""
        return await attended(functools.partial(self.run_blocking, request), limiter=_threads())

    def probe(self) -> SandboxReport:
        """Start the sandbox once, without a script, and report whether it works. The report is cached."""
        if self._report is None:
            self._report = self._probe()
        return self._report

    def run_blocking(self, request: ExecRequest, wake: int) -> ExecResult:
        """Run the script in this thread. The run ends early if `wake` becomes readable or its peer is closed."""
        with contextlib.ExitStack() as held:
            with _setting_up():
                _check(request)
                interpreter = self._interpreter(request)
                program, version = self._program()
                layout, command = _layout(request, interpreter), _command(request, interpreter)
                written = None
                if layout.write and layout.workspace is not None:
                    written = held.enter_context(writable_workspace(layout.workspace, wake))
                    layout = structs.replace(layout, protected=written.places)
                group = ControlGroup(request.limits)
                held.callback(group.rest)
                started = start(
                    program,
                    layout,
                    command,
                    stdin=request.stdin is not None,
                    within=group.visited(),
                )
                held.callback(started.close)
                if written is not None:
                    written.check_mounts(started.init_pid)
                group.add(started.init_pid)
                filtered = () if syscall_filter() is None else ("syscalls",)
                bounds = set_bounds(started.init_pid, limits_of_gate(request.limits))
                held_bounds = (*bounds, *group.enforced, *filtered)
            result = _run(started, request, group, held_bounds, version, wake)
            notices = () if written is None else written.notices()
            return structs.replace(result, notices=(*result.notices, *notices)) if notices else result

    def _interpreter(self, request: ExecRequest) -> Interpreter:
        if request.command is not None:
            return command_interpreter()
        if request.interpreter is not None:
            return Interpreter(name=request.interpreter[0], command=request.interpreter)
        try:
            with ContainedRoot(request.skill_dir) as root, root.open(request.script) as file:
                first = file.read(_SHEBANG_BYTES)
        except (FileNotFoundError, IsADirectoryError):
            raise ScriptUnsupportedError(request.script, "the skill has no such file") from None
        return select_interpreter(request.script, first, extensions=self._extensions, mounts=self._interpreters)

    def _program(self) -> tuple[str, str]:
        """Return (path, version) of bubblewrap."""
        if self._found is None:
            if not sys.platform.startswith("linux"):
                raise SandboxUnavailableError(BACKEND, "scripts need Linux; everything else works on this system")
            program = next((path for path in self._programs if os.access(path, os.X_OK)), None)
            if program is None:
                places = " or ".join(self._programs)
                hint = f"bubblewrap is not installed at {places}; install it (Debian: apt-get install bubblewrap)"
                raise SandboxUnavailableError(BACKEND, hint)
            self._found = program, _version(program)
        return self._found

    def _probe(self) -> SandboxReport:
        try:
            program, version = self._program()
            layout = Layout(skill="/usr/lib", cwd=PRIVATE_DIRECTORY)
            started = start(program, layout, _PROBE_COMMAND, stdin=False)
            try:
                started.release()
                _, message = started.process.communicate(timeout=_PROBE_SECONDS)
                if started.script_status() != 0:
                    raise SandboxUnavailableError(BACKEND, started.missing(message) or hint_from(message))
            finally:
                started.close()
        except (SandboxUnavailableError, subprocess.TimeoutExpired) as fault:
            hint = (
                fault.hint
                if isinstance(fault, SandboxUnavailableError)
                else f"it did not end within {_PROBE_SECONDS:g} s"
            )
            found = self._found or (None, None)
            return SandboxReport(
                available=False, backend=BACKEND, tier=0, version=found[1], program=found[0], hint=hint
            )
        return SandboxReport(available=True, backend=BACKEND, tier=1, version=version, program=program, hint="")


def _threads() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_RUNS_AT_ONCE)
        _limiter.set(limiter)
        return limiter


def _version(program: str) -> str:
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=True, env={}, cwd="/")
    except (OSError, subprocess.SubprocessError) as fault:
        raise SandboxUnavailableError(BACKEND, f"{program} does not answer: {fault}") from fault
    return answer.stdout.decode("utf-8", "replace").strip().removeprefix("bubblewrap ")


def _check(request: ExecRequest) -> None:
    if request.command is None:
        check_relative(request.script)
    check_mounts(request.mounts)
    check_environment(request.env)
    problems = _faults_of_command(request)
    problems += [f"args[{number}] holds a NUL character" for number, text in enumerate(request.args) if "\0" in text]
    sizes = [len(os.fsencode(text)) + 1 for text in request.args]
    problems += [
        f"args[{number}] is longer than {LONGEST_STRING} bytes; pass it on standard input"
        for number, size in enumerate(sizes)
        if size > LONGEST_STRING
    ]
    variables = sum(len(name) + len(os.fsencode(value)) + 2 for name, value in request.env.items())
    if sum(sizes) + variables > ALL_STRINGS:
        problems.append(f"args and env together are longer than {ALL_STRINGS} bytes; pass them on standard input")
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def _faults_of_command(request: ExecRequest) -> list[str]:
    if request.command is None:
        return []
    problems = []
    if request.skill_dir or request.script or request.interpreter:
        problems.append("give either a command or a script of a skill, not both")
    if "\0" in request.command:
        problems.append("command holds a NUL character")
    if len(os.fsencode(request.command)) >= LONGEST_STRING:
        problems.append(f"command is longer than {LONGEST_STRING} bytes; write it to a file and run that")
    return problems


def _layout(request: ExecRequest, interpreter: Interpreter) -> Layout:
    workspace, cwd = _workspace(request)
    with_skill = request.command is None
    env = base_environment(
        session_id=request.session_id,
        workspace=workspace is not None,
        skill=with_skill,
        skill_imports=request.skill_imports,
    )
    mounted = None
    if interpreter.prefix is not None and interpreter.mount_point is not None:
        mounted = (os.path.realpath(interpreter.prefix), interpreter.mount_point)
    return Layout(
        skill=os.path.realpath(request.skill_dir) if with_skill else None,
        workspace=workspace,
        write=request.write,
        cwd=cwd,
        interpreter=mounted,
        mounts=tuple((place, os.path.realpath(directory)) for place, directory in request.mounts),
        limits=request.limits,
        env={**env, **request.env},
    )


def _workspace(request: ExecRequest) -> tuple[str | None, str]:
    """Return (the workspace on the host or None, the working directory inside the sandbox)."""
    components = check_relative(request.workdir)
    if request.workspace is None:
        if components:
            raise InvalidArgumentsError((f"workdir is {request.workdir!r}, but there is no workspace; leave it out",))
        return None, PRIVATE_DIRECTORY
    real, notice = usable_workspace(request.workspace)
    if real is None:
        raise InvalidArgumentsError((notice.message if notice else "the workspace cannot be used",))
    if components:
        try:
            with ContainedRoot(real) as root:
                root.entries("/".join(components))
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidArgumentsError((f"workdir {request.workdir!r} is not a directory in the workspace",)) from None
    return real, "/".join(("/workspace", *components))


def _command(request: ExecRequest, interpreter: Interpreter) -> tuple[str, ...]:
    if request.command is not None:
        return (*interpreter.command, "-c", request.command, *request.args)
    script = "/".join(("/skill", *check_relative(request.script)))
    return (*interpreter.command, script, *request.args)


@contextlib.contextmanager
def _setting_up() -> Iterator[None]:
    """Turn an `OSError` during the set-up into `SandboxUnavailableError` with the failed step."""
    try:
        yield
    except OSError as fault:
        if isinstance(fault, SkillError):  # some errors of Prowess are also `OSError`s
            raise
        where = f" ({fault.filename})" if fault.filename else ""
        hint = f"the system refused a step of its set-up{where}: {fault.strerror or fault}"
        raise SandboxUnavailableError(BACKEND, hint) from fault


def _run(  # noqa: PLR0917 -- the parts of one run, passed by the only caller
    started: Started, request: ExecRequest, group: ControlGroup, held: tuple[str, ...], version: str, wake: int
) -> ExecResult:
    limits = request.limits
    stdout, stderr = (Capture(limits.output_bytes, kept) for kept in _listeners(started, request))
    started.release()
    group.prepare_next()
    end_orphans()
    ending = supervise(
        started.process,
        init_pidfd=started.init_pidfd,
        stdin=request.stdin,
        stdout=stdout,
        stderr=stderr,
        wall_seconds=limits.wall_seconds,
        cancel_fd=wake,
    )
    status = started.script_status()
    # bubblewrap reports a status for every script that it started. If it ended by itself without one, its set-up
    # failed.
    by_itself = ending.ended and not (ending.timed_out or ending.cancelled) and started.process.returncode > 0
    if status is None and by_itself:
        said = bytes(stderr.data) or b"it ended with status %d during its set-up" % started.process.returncode
        raise SandboxUnavailableError(BACKEND, hint_from(said))
    if missing := started.missing(bytes(stderr.data)):
        raise ScriptUnsupportedError(request.script or "a command line", missing)
    artifacts, notices = _artifacts(started, request, ending)
    code = _KILLED if status is None or ending.timed_out else status
    if not ending.timed_out:
        notices = (*killed_by(code, limits, out_of_memory=group.out_of_memory()), *notices)
    if code and (package := missing_package(bytes(stderr.data))) is not None:
        notices = (*notices, package)
    if code and (crlf := carriage_returns(request.script, _text(request), bytes(stderr.data))) is not None:
        notices = (*notices, crlf)
    return ExecResult(
        exit_code=code,
        stdout=bytes(stdout.data),
        stderr=bytes(stderr.data),
        stdout_bytes=stdout.total,
        stderr_bytes=stderr.total,
        timed_out=ending.timed_out,
        duration_ms=round(ending.seconds * 1000),
        artifacts=artifacts,
        notices=notices,
        guarantees=guarantees_of(request, backend=BACKEND, version=version, held=held),
    )


def _text(request: ExecRequest) -> bytes:
    """Return the beginning of the script; empty for a command line or if the request names an interpreter."""
    if request.command is not None or request.interpreter is not None:
        return b""
    with open(os.path.join(request.skill_dir, request.script), "rb") as file:
        return file.read(_LOOKED_AT)


def _listeners(started: Started, request: ExecRequest) -> tuple[Callable[[bytes], None] | None, ...]:
    """Return the callbacks for the two output streams. They do not get the start gate's message (`start_gate`)."""
    told = request.on_output
    if told is None:
        return None, None
    return functools.partial(told, "stdout"), lambda data: None if started.missing(data) else told("stderr", data)


def _artifacts(
    started: Started, request: ExecRequest, ending: Ending
) -> tuple[tuple[Artifact, ...], tuple[ExecNotice, ...]]:
    if not ending.ended:
        message = "a process of the run could not be ended, so the files in /out were not copied"
        return (), (ExecNotice(code="process_left", message=message),)
    if request.out_dir is None or ending.cancelled:
        return (), ()
    try:
        return collect(started.out_fd, request.out_dir, request.limits)
    except OSError as fault:
        message = f"artifacts could not be kept in {request.out_dir}: {fault.strerror or fault}"
        return (), (ExecNotice(code="artifacts_lost", message=message),)
