"""Runs the command line of another agent, behind the gateway.

Each run has an empty home, in which the skill and its neighbours are installed. The home is deleted at the end. It is
a temporary directory that only the user can read: other users must not find the address of the gateway there, and an
agent that looks around must not find the evals and other runs beside it. The host's output, its messages and the
transcript stay in the directory of the run. The host gets replacements for the user's keys, because hosts write their
environment to files, and the gateway puts the keys in.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.globs import PathGlob
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError
from prowess.evals.gateway.gateway import Gateway, GatewayRun
from prowess.evals.hosts.host import ENDS_CAMPAIGN, HostRun
from prowess.evals.hosts.host_process import HostProcess, passed_on
from prowess.evals.hosts.host_program import HostInvocation
from prowess.evals.recordings.redaction import redact_transcript
from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript
from prowess.evals.transcripts.transcript import RunTranscript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from prowess.evals.hosts.host import HostRequest
    from prowess.evals.hosts.host_program import HostCommand, HostProgram
    from prowess.evals.ledger.calls import Calls
    from prowess.evals.ledger.prices import Price

STREAM, ERRORS, SESSION = "stream.jsonl", "errors.txt", "session"
_MOST_ERROR = 300  # characters of the host's messages that are shown


class CommandHost:
    """Implements `Host`. An async context manager: the gateway serves while it is open.

    `model` is None for the host's default. `upstream` is the address of the provider, without a path; None for the
    host's own, or that of the variable that the host reads. `executable` replaces the program found on PATH.

    Raises:
        InvalidArgumentsError: the host is not installed, or needs a model.
    """

    def __init__(
        self,
        program: HostProgram,
        calls: Calls,
        *,
        model: str | None = None,
        price: Price | None = None,
        upstream: str | None = None,
        executable: tuple[str, ...] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        variables = os.environ if environment is None else environment
        if sys.platform == "win32":
            raise InvalidArgumentsError(("other hosts need Linux or macOS: their processes are supervised",))
        if program.needs_model and model is None:
            raise InvalidArgumentsError((f"host {program.name!r} has no default model here; name one with --model",))
        self._program, self._calls, self._model = program, calls, model
        self._executable = executable or _executable(program)
        self._upstream = _without_version(upstream or variables.get(program.upstream_variable) or program.upstream)
        self._credentials = {name: variables[name] for name in program.credentials if variables.get(name)}
        self._gateway = Gateway(calls, price=price)
        self._stack = AsyncExitStack()

    @property
    def name(self) -> str:
        """The name, as `--host` takes it."""
        return self._program.name

    async def __aenter__(self) -> Self:
        """Start the gateway."""
        await self._stack.enter_async_context(self._gateway.serving())
        return self

    async def __aexit__(self, *details: object) -> None:
        """Stop the gateway. Calls in flight have a short time to be kept."""
        await self._stack.aclose()

    async def run(self, request: HostRequest) -> HostRun:
        """Carry out one task; see `Host`."""
        request = _absolute(request)
        replacements = {name: _replacement(name) for name in self._credentials or self._program.credentials[:1]}
        run = GatewayRun(
            unit=request.unit,
            host=self.name,
            upstream=self._upstream,
            provider=self._program.provider,
            max_output_tokens=request.limits.max_output_tokens,
            credentials={replacements[name]: key for name, key in self._credentials.items()},
        )
        home = await to_thread.run_sync(_new_home)
        try:
            return await self._run_in(home, request, run, replacements)
        finally:
            self._gateway.dismiss(run)
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(_remove, home)

    async def _run_in(
        self, home: Path, request: HostRequest, run: GatewayRun, replacements: Mapping[str, str]
    ) -> HostRun:
        directory = Path(request.directory)
        await to_thread.run_sync(_lay_out, home, self._program.skills, request.skills)
        self._calls.begin(request.unit, _places(home, request))
        invocation = HostInvocation(
            prompt=request.prompt,
            home=str(home),
            provider=self._gateway.admit(run),
            model=self._model,
            credentials=dict(replacements),
            limits=request.limits,
        )
        began = time.monotonic()
        code = await self._execute(self._program.command(invocation), request, run, home)
        seconds = time.monotonic() - began
        told = await to_thread.run_sync(_read, directory / STREAM)
        transcript, path = await to_thread.run_sync(self._transcript, told, directory, home)
        for kept in {directory / STREAM, path or directory / STREAM}:
            await to_thread.run_sync(redact_transcript, str(kept))
        if isinstance(run.fault, ENDS_CAMPAIGN):
            raise run.fault
        error = self._error(transcript, code, request.limits.seconds, run, directory)
        return HostRun(
            transcript=transcript,
            transcript_path=None if path is None else str(path),
            answer=transcript.answer if told.host is None else told.answer,  # agents can write session files, too
            seconds=seconds,
            error=error,
        )

    async def _execute(self, command: HostCommand, request: HostRequest, run: GatewayRun, home: Path) -> int | None:
        source = home / "tmp" / "prompt.txt"
        for name, text in command.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        source.write_text(command.stdin, encoding="utf-8")
        directory = Path(request.directory)
        process = HostProcess(source=source, output=directory / STREAM, errors=directory / ERRORS)
        return await process.run(
            [*self._executable, *command.arguments],
            environment={**passed_on(), **command.environment, "HOME": str(home), "TMPDIR": str(home / "tmp")},
            directory=request.workspace,
            seconds=request.limits.seconds,
            stopped=run.stopped,
        )

    def _transcript(self, stream: RunTranscript, directory: Path, home: Path) -> tuple[RunTranscript, Path | None]:
        """Return the transcript of the run, and the file or folder that it was read from."""
        session = None
        kept = _keep_session(self._program, home, directory)
        if kept is not None:
            session = _read(kept)
        if session is None or session.host is None:
            return stream, directory / STREAM
        if stream.host is None:
            return session, kept
        if not self._program.judges_session:
            return stream, directory / STREAM
        # The session alone has the sub-agents, and only the stream tells how the run ended.
        return replace(session, ended=stream.ended, end_reason=stream.end_reason, end_at=stream.end_at), kept

    def _error(
        self, transcript: RunTranscript, code: int | None, seconds: float, run: GatewayRun, directory: Path
    ) -> str | None:
        """Return one sentence if the run has no verdict on the skill."""
        refusals = run.refusals
        if run.fault is not None:
            return str(run.fault)
        if code is None:
            return f"{self.name} did not end within {seconds:g} s and was killed"
        if transcript.ended in ("completed", "limit"):
            return None
        if refusals and refusals[-1] in {401, 403}:
            keys = " or ".join(self._program.credentials)
            return f"the provider refused access (status {refusals[-1]}); set {keys}"
        told = transcript.end_reason if transcript.host is not None else None
        reason = told or _last_line(directory / ERRORS) or f"it ended with code {code}"
        return f"{self.name} failed: {printable_line(reason)}"


def _replacement(variable: str) -> str:
    """Return the replacement of a key that a host gets. Hosts do not start without one, even if a replay needs none."""
    return f"prowess-gateway-{variable.lower().replace('_', '-')}-{secrets.token_urlsafe(18)}"


def _absolute(request: HostRequest) -> HostRequest:
    """Return the request with an absolute directory: the host works in another one."""
    return replace(request, directory=os.path.abspath(request.directory))


def _places(home: Path, request: HostRequest) -> dict[str, str]:
    """Return the paths that differ between executions. Claude Code names folders by a path with `-` for each sign."""
    paths = {str(home): "home", request.workspace: "workspace", request.directory: "run"}
    return {**paths, **{re.sub(r"[^A-Za-z0-9]", "-", path): f"{name} folder" for path, name in paths.items()}}


def _executable(program: HostProgram) -> tuple[str, ...]:
    found = shutil.which(program.program)
    if found is None:
        problem = f"host {program.name!r} is not installed; install it with: npm install -g {program.package}"
        raise InvalidArgumentsError((problem,))
    return (found,)


def _without_version(address: str) -> str:
    """Return an address without a path `/v1`: it is a part of the paths that hosts ask for."""
    return address.rstrip("/").removesuffix("/v1")


def _new_home() -> Path:
    return Path(os.path.realpath(mkdtemp(prefix="prowess-home-")))


def _lay_out(home: Path, skills: str, directories: tuple[str, ...]) -> None:
    """Fill the home: install the skills there under the names of their directories."""
    (home / "tmp").mkdir()
    for directory in directories:
        source = Path(directory)
        shutil.copytree(source, home / skills / source.name, symlinks=True)


def _remove(home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)


def _keep_session(program: HostProgram, home: Path, directory: Path) -> Path | None:
    """Copy the files of the session out of the home; None if the host wrote none. One file stays a file."""
    files = list(_session_files(program, home))
    if not files:
        return None
    folder = directory / SESSION
    _remove(folder)
    parent = Path(os.path.commonpath([path.parent for path in files]))
    for path in files:
        target = folder / path.relative_to(parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder if len(files) > 1 else folder / files[0].name


def _session_files(program: HostProgram, home: Path) -> Iterator[Path]:
    """Yield the files that the patterns of the host name, sorted. Links are left out: the agent may have made them."""
    pattern = PathGlob.parse(*program.sessions)
    top = program.sessions[0].partition("/")[0]
    if (home / top).is_symlink():
        return
    for folder, folders, names in os.walk(home / top):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            if pattern.matches(path.relative_to(home).parts) and stat.S_ISREG(path.lstat().st_mode):
                yield path


def _read(path: Path) -> RunTranscript:
    try:
        return read_transcript(path)
    except TranscriptFileError as fault:
        return RunTranscript(host=None, form=None, ended="error", end_reason=fault.reason)


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        lines = file.read().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:_MOST_ERROR] for line in reversed(lines) if line.strip()), "")
