"""Runs command lines of `prowess` in forked processes, with most modules imported before: a run takes milliseconds.

`PROWESS` is a program: it takes the arguments, the working directory, the environment and the standard streams of
`prowess`, and passes SIGINT, SIGTERM and SIGHUP on. It is for tests of what a command prints and does. Tests of its
start, of a terminal or of imports start `python -m prowess`.

Runs of one call of `run_at_once` start together. A run can belong to another user, and can be traced by strace from its
first call. What a run imports is imported for later ones, also because another user may not be able to read it.
"""

from __future__ import annotations

import array
import atexit
import gc
import marshal
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tests import forked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_ROOT = Path(__file__).parents[1]
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
_PR_SET_PTRACER, _ANY = 0x59616D61, 2**64 - 1  # linux/prctl.h: any process of the user may trace this one

_known: set[str] = set()  # modules that the server has imported, or cannot import

# The program imports nothing that has to be read: it starts in a tenth of the time of `prowess --version`.
_PROGRAM = """\
#!{python} -IS
import _signal, _socket, marshal, posix, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
request = marshal.dumps({{"commands": [sys.argv[1:]], "directory": posix.getcwd(), "environment": posix.environ}})
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
server.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(request)
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(number, lambda number, frame: server.send(bytes([number])))
answer = b""
while part := server.recv(1024):
    answer += part
(code,) = marshal.loads(answer)
if code < 0:
    _signal.signal(-code, _signal.SIG_DFL) if -code != _signal.SIGKILL else None
    posix.kill(posix.getpid(), -code)
posix._exit(code)
"""


class Ran(NamedTuple):
    """The end of one run: the exit code, or minus the number of the signal; and what was written."""

    code: int
    out: str
    err: str


def prowess() -> str:
    """Return the path of a program `prowess` that runs in a process forked from the server."""
    return str(_server() / "prowess")


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
    with TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
        outputs = [f"{place}/{at}" for at in range(len(commands))]
        request = {
            "commands": [list(command) for command in commands],
            "directory": str(directory),
            "environment": dict(environment),
            "user": user,
            "trace": list(trace),
            "outputs": outputs,
        }
        server.connect(str(_server() / "socket"))
        data = marshal.dumps(request)
        server.sendall(len(data).to_bytes(8, "big") + data)
        answer = marshal.loads(b"".join(iter(lambda: server.recv(65536), b"")))  # noqa: S302 -- from our own process
        if isinstance(answer, str):
            raise PermissionError(answer)
        return [
            Ran(code, Path(f"{path}.out").read_text("utf-8"), Path(f"{path}.err").read_text("utf-8"))
            for code, path in zip(answer, outputs, strict=True)
        ]


@cache
def _server() -> Path:
    """Start the server. Return its directory, with the socket and the program. The server ends with this process."""
    place = Path(mkdtemp(prefix="prowess-forks-"))
    # Hashes are the same in each run, so each run makes the same calls.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fork_server", str(place)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    program = place / "prowess"
    program.write_text(_PROGRAM.format(python=sys.executable, address=str(place / "socket")))
    program.chmod(0o755)
    os.chmod(place, 0o755)  # for other users
    atexit.register(_end, server, place, os.getpid())
    return place


def _end(server: subprocess.Popen[bytes], place: Path, owner: int) -> None:
    if os.getpid() == owner:
        server.communicate()
        shutil.rmtree(place, ignore_errors=True)


def _serve(place: str) -> None:
    sys.path.remove(str(_ROOT))
    import_everything()
    if "coverage" in sys.modules and (measured := sys.modules["coverage"].Coverage.current()) is not None:
        measured.save()  # so that no run writes the lines of these imports once more
    _known.update(sys.modules)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{place}/socket")
    os.chmod(f"{place}/socket", 0o666)
    listener.listen(64)
    os.write(1, b"ready\n")
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    while 0 not in select.select([listener.fileno(), 0], [], [])[0]:  # standard input is closed when the tests end
        _learn(place)
        connection = listener.accept()[0]
        with connection:
            if os.fork() == 0:
                listener.close()
                _handle(connection, place)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def import_everything() -> None:
    """Import what commands need, before this process forks one of them."""
    import pkgutil

    import prowess.cli.commands
    import prowess.distribution
    import prowess.lockfile
    import prowess.signing

    for room in (prowess.distribution, prowess.lockfile, prowess.signing, prowess.cli.commands):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            import_module(module.name)
    for name in _LIBRARIES:
        import_module(name)
    gc.collect()
    gc.freeze()  # so that no run visits, and with that copies, the memory that it shares with the others


def _learn(place: str) -> None:
    with suppress(FileNotFoundError):
        names = Path(f"{place}/modules").read_text("utf-8").split()
        os.unlink(f"{place}/modules")
        for name in sorted(names):
            with suppress(ImportError):
                import_module(name)
        _known.update(names, sys.modules)


def _handle(connection: socket.socket, place: str) -> NoReturn:
    """Answer one request in this forked process, which ends with it."""
    try:
        size, streams = _received(connection)
        data = b""
        while len(data) < size:
            data += connection.recv(size - len(data))
        request = marshal.loads(data)  # noqa: S302 -- from a test
        answer = _answer(request, streams, connection, place)
        connection.sendall(marshal.dumps(answer))
    except BaseException:  # noqa: BLE001 -- this process ends here, and the test shows what was written
        sys.excepthook(*sys.exc_info())
    forked.end(0)


def _received(connection: socket.socket) -> tuple[int, list[int]]:
    """Return the size of the request, and the descriptors that came with it."""
    numbers = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(3 * numbers.itemsize))
    for _, _, rights in ancillary:
        numbers.frombytes(rights)
    return int.from_bytes(data, "big"), list(numbers)


def _answer(request: dict[str, Any], streams: list[int], connection: socket.socket, place: str) -> list[int] | str:
    wait, go = os.pipe()
    children = []
    for at, arguments in enumerate(request["commands"]):
        files = streams or [
            os.open(os.devnull, os.O_RDONLY),
            *(os.open(f"{request['outputs'][at]}.{kind}", os.O_WRONLY | os.O_CREAT, 0o600) for kind in ("out", "err")),
        ]
        child = os.fork()
        if child == 0:
            os.close(go)
            connection.close()
            _become(request, arguments, files, wait, place)
        children.append(child)
        for descriptor in files:
            os.close(descriptor)
    os.close(wait)
    tracer, refused = None, ""
    if request.get("trace"):
        command = ["strace", "-f", *request["trace"], *(part for child in children for part in ("-p", str(child)))]
        tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr is not None
        first = [tracer.stderr.readline() for _ in children]
        refused = "".join(line for line in first if " attached" not in line)
    if streams:
        threading.Thread(target=_pass_signals_on, args=(connection, children[0]), daemon=True).start()
    os.write(go, b"n" * len(children) if refused else b"y" * len(children))
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if tracer is not None:
        tracer.communicate()
    return refused or codes


def _pass_signals_on(connection: socket.socket, child: int) -> None:
    while number := connection.recv(1):
        os.kill(child, number[0])
    os.kill(child, signal.SIGKILL)  # the program was killed


def _become(request: dict[str, Any], arguments: list[str], files: list[int], wait: int, place: str) -> NoReturn:
    """Run one command in this forked process, which ends with it."""
    import ctypes

    from prowess.cli.main import main

    code = 70
    is_private = bool(request.get("trace")) or request.get("user") is not None
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANY), 0, 0, 0)
        for descriptor, file in enumerate(files):
            os.dup2(file, descriptor)
            os.close(file)
        os.chdir(request["directory"])
        os.environ.clear()
        for key, value in request["environment"].items():
            os.environ[os.fsdecode(key)] = os.fsdecode(value)
        while "outputs" in request and "=" in arguments[0]:
            name, _, value = arguments.pop(0).partition("=")
            os.environ[name] = value
        os.umask(0o022)
        signal.alarm(_SECONDS)
        if os.read(wait, 1) == b"y":
            os.close(wait)
            if (user := request.get("user")) is not None:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
            sys.argv = ["prowess", *arguments]
            code = _exit_code(main)
            sys.stdout.flush()
            sys.stderr.flush()
            if not is_private:
                if new := sys.modules.keys() - _known:
                    Path(f"{place}/modules.{os.getpid()}").write_text("\n".join(new), "utf-8")
                    os.replace(f"{place}/modules.{os.getpid()}", f"{place}/modules")
                atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 -- this process ends here, and the test shows what was written
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _exit_code(main: Callable[[], object]) -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
