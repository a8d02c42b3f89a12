"""Runs command lines of `prowess` in forked processes, with most modules imported before: a run takes milliseconds.

Runs of one request start together. A run can belong to another user, and can be traced by strace from its first call.
What a run imports is imported for later ones, also because another user may not be able to read it. This file is also
the server: it reads one JSON document a line, and answers each with one line.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS = 120
_LIBRARIES = (
    "anyio._backends._asyncio",
    "cryptography.x509",
    "nodesemver",
    "tuf.ngclient",
    "encodings.idna",
    "ctypes",
    "grp",
    "pwd",
)
_COMMANDS = ("install", "update", "remove", "rollback", "store", "publish", "deploy", "revoke", "sync")
_PR_SET_PTRACER, _ANY = 0x59616D61, 2**64 - 1  # linux/prctl.h: any process of the user may trace this one


class Ran(NamedTuple):
    """The end of one run: the exit code, or minus the number of the signal; and what was written."""

    code: int
    out: str
    err: str


def run_at_once(
    commands: Sequence[Sequence[str]],
    directory: Path,
    environment: Mapping[str, str],
    *,
    user: int | None = None,
    trace: Sequence[str] = (),
) -> list[Ran]:
    """Run commands at the same time, each as the user with the number `user`. `trace` are options of strace.

    As for `env`, the first arguments can be NAME=VALUE for the environment of one command.

    Raises:
        PermissionError: processes cannot be traced here.
    """
    with TemporaryDirectory() as place:
        outputs = [f"{place}/{at}" for at in range(len(commands))]
        request = {
            "commands": [list(command) for command in commands],
            "directory": str(directory),
            "environment": dict(environment),
            "user": user,
            "trace": list(trace),
            "outputs": outputs,
        }
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        if isinstance(answer, str):
            raise PermissionError(answer)
        return [
            Ran(code, Path(f"{path}.out").read_text("utf-8"), Path(f"{path}.err").read_text("utf-8"))
            for code, path in zip(answer, outputs, strict=True)
        ]


@cache
def _server() -> subprocess.Popen[str]:
    # Hashes are the same in each run, so each run makes the same calls. The server ends when its input is closed.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def _serve() -> None:
    import pkgutil

    import prowess.distribution
    import prowess.lockfile
    import prowess.signing

    for room in (prowess.distribution, prowess.lockfile, prowess.signing):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            import_module(module.name)
    for name in (*_LIBRARIES, *(f"prowess.cli.commands.{command}" for command in _COMMANDS)):
        import_module(name)
    gc.collect()
    gc.freeze()  # so that no run visits, and with that copies, the memory that it shares with the others
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def _answer(request: dict[str, Any]) -> list[int] | str:
    wait, go = os.pipe()
    children = []
    learnt = f"{request['outputs'][0]}.modules"
    for arguments, path in zip(request["commands"], request["outputs"], strict=True):
        outputs = [os.open(f"{path}.{kind}", os.O_WRONLY | os.O_CREAT, 0o600) for kind in ("out", "err")]
        child = os.fork()
        if child == 0:
            os.close(go)
            _become(request, arguments, outputs, wait)
        children.append(child)
        for descriptor in outputs:
            os.close(descriptor)
    os.close(wait)
    tracer, refused = None, ""
    if request["trace"]:
        command = ["strace", "-f", *request["trace"], *(part for child in children for part in ("-p", str(child)))]
        tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr is not None
        first = [tracer.stderr.readline() for _ in children]
        refused = "".join(line for line in first if " attached" not in line)
    os.write(go, b"n" * len(children) if refused else b"y" * len(children))
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if tracer is not None:
        tracer.communicate()
    if os.path.exists(learnt):
        with open(learnt, encoding="utf-8") as file:
            for name in file.read().split():
                with suppress(ImportError):
                    import_module(name)
    return refused or codes


def _become(request: dict[str, Any], arguments: list[str], outputs: list[int], wait: int) -> None:
    """Run one command in this forked process, which ends with it."""
    import ctypes
    import signal

    from prowess.cli.dispatch import run

    code = 70
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANY), 0, 0, 0)
        for descriptor, output in enumerate(outputs, 1):
            os.dup2(output, descriptor)
        os.chdir(request["directory"])
        os.environ.clear()
        os.environ.update(request["environment"])
        while "=" in arguments[0]:
            name, _, value = arguments.pop(0).partition("=")
            os.environ[name] = value
        os.umask(0o022)
        signal.alarm(_SECONDS)
        if os.read(wait, 1) == b"y":
            if (user := request["user"]) is not None:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
            code = run(arguments)
            sys.stdout.flush()
            if request["user"] is None and not request["trace"]:
                Path(f"{request['outputs'][0]}.modules").write_text("\n".join(sys.modules), "utf-8")
    except BaseException:  # noqa: BLE001 -- this process ends here, and the test shows what was written
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()
