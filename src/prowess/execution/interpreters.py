"""Choose the interpreter of a script: by the shebang if it names a listed interpreter, else by the extension.

The table is closed. The executable bit of a script has no effect, and a shebang never starts a program that is not
listed. `docs/build/scripts.md` shows this table; a test compares the two.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from prowess.errors import ScriptUnsupportedError
from prowess.execution.result import ExecNotice

if TYPE_CHECKING:
    from collections.abc import Mapping

_END_BYTES = 2000  # bytes at the end of standard error that are searched for the reason of a failure
_SHELLS = frozenset({"sh", "bash", "zsh"})
# Messages of bash, env and the loader about a carriage return. A carriage return alone may belong to a progress bar.
_CARRIAGE_RETURN = rb"\$'\\r'|\\r'|\^M: bad interpreter|[^\r\n]\r: (?:No such file|not found|bad interpreter)"
LONGEST_SHEBANG = 256  # bytes; the kernel reads no more of a script's first line


class InterpreterRule(Struct, frozen=True, kw_only=True):
    """A row of the table: an interpreter, its programs and the scripts it runs.

    `programs` are tried in order. `flags` are the one-letter options that are passed on if a shebang has them.
    """

    name: str
    language: str
    extensions: tuple[str, ...]
    shebangs: tuple[str, ...]  # base names; `.N` means any minor version
    programs: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    flags: str = ""
    package: str


INTERPRETERS: Final = (
    InterpreterRule(
        name="python3",
        language="Python",
        extensions=(".py",),
        shebangs=("python3", "python", "python3.N"),
        programs=("/usr/bin/python3", "/usr/local/bin/python3"),
        arguments=("-u",),  # unbuffered, so that the output of a run that was cut short is complete
        flags="BEIOSsu",
        package="python3",
    ),
    InterpreterRule(
        name="sh",
        language="POSIX shell",
        extensions=(".sh",),
        shebangs=("sh", "dash"),
        programs=("/usr/bin/sh", "/bin/sh"),
        flags="efux",
        package="dash",
    ),
    InterpreterRule(
        name="bash",
        language="Bash",
        extensions=(".bash",),
        shebangs=("bash",),
        programs=("/usr/bin/bash", "/bin/bash"),
        flags="efux",
        package="bash",
    ),
    InterpreterRule(
        name="node",
        language="JavaScript",
        extensions=(".js",),
        shebangs=("node", "nodejs"),
        programs=("/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"),
        package="nodejs",
    ),
)


class InterpreterMount(Struct, frozen=True, kw_only=True):
    """An interpreter outside /usr.

    `prefix` is a host directory that is mounted read-only in the sandbox. `program` is a path relative to `prefix`. For
    example `InterpreterMount(prefix="/opt/python3.13", program="bin/python3")`.
    """

    prefix: str
    program: str


class Interpreter(Struct, frozen=True, kw_only=True):
    """The command for a script. If `prefix` is set, the host directory `prefix` is mounted at `mount_point`."""

    name: str
    command: tuple[str, ...]
    prefix: str | None = None
    mount_point: str | None = None


def select_interpreter(
    script: str,
    first_bytes: bytes,
    *,
    extensions: Mapping[str, str] = MappingProxyType({}),
    mounts: Mapping[str, InterpreterMount] = MappingProxyType({}),
) -> Interpreter:
    """Return the interpreter for the script at the relative path `script` that begins with `first_bytes`.

    `extensions` adds rows to the table, from extension to interpreter name. `mounts` gives the place of interpreters
    outside /usr, by interpreter name.

    Raises:
        ScriptUnsupportedError: no interpreter fits, or it is not installed; the message names a remedy.
    """
    program, options = _shebang(first_bytes)
    rule = _rule_by_shebang(program) or _rule_by_extension(script, extensions)
    if rule is None:
        raise ScriptUnsupportedError(script, _nothing_fits(script, program))
    arguments = (*rule.arguments, *_kept_flags(rule, options)) if _rule_by_shebang(program) else rule.arguments
    if mount := mounts.get(rule.name):
        if not os.access(os.path.join(mount.prefix, mount.program), os.X_OK):
            missing = f"the configured {rule.name}, {mount.prefix}/{mount.program}, cannot be executed"
            raise ScriptUnsupportedError(script, missing)
        if (outside := _outside(mount)) is not None:
            raise ScriptUnsupportedError(script, outside)
        point = f"/interpreters/{rule.name}"
        command = (f"{point}/{mount.program}", *arguments)
        return Interpreter(name=rule.name, command=command, prefix=mount.prefix, mount_point=point)
    return _installed(rule, arguments, script)


def _outside(mount: InterpreterMount) -> str | None:
    """Return the directory to mount if the program is a link out of the sandbox, as in most virtual environments."""
    program = os.path.join(mount.prefix, mount.program)
    real = os.path.realpath(program)
    if real.startswith((os.path.join(os.path.realpath(mount.prefix), ""), "/usr/")):
        return None
    base = os.path.dirname(os.path.dirname(real))
    return (
        f"{program} resolves to {real}, which is outside {mount.prefix} and not in the sandbox; mount that "
        f"interpreter (prefix {base!r}, program {os.path.relpath(real, base)!r}) and install the packages there"
    )


def missing_package(stderr: bytes) -> ExecNotice | None:
    """Return a notice if a Python script ended because a module is missing, else None."""
    found = re.findall(rb"^ModuleNotFoundError: No module named '([\w.]+)'", stderr[-_END_BYTES:], re.MULTILINE)
    if not found:
        return None
    message = (
        f"the script imports {found[-1].decode('ascii', 'replace')}, which Python in the sandbox does not have: "
        "packages of a home directory or a virtual environment are not in the sandbox; install it below /usr, or mount "
        "an interpreter that has it (InterpreterMount)"
    )
    return ExecNotice(code="package_missing", message=message)


def carriage_returns(script: str, text: bytes, stderr: bytes) -> ExecNotice | None:
    """Return a notice if a run may have failed because of CRLF line ends in a shell script, else None.

    `text` is the script or its beginning.
    """
    program, _ = _shebang(text)
    rule = _rule_by_shebang(program) or _rule_by_extension(script, {})
    own = rule is not None and rule.name in _SHELLS and b"\r\n" in text
    if not own and re.search(_CARRIAGE_RETURN, stderr[-_END_BYTES:]) is None:
        return None
    what = f"{script} ends its lines" if own else "a script that it starts, or a file that it reads, ends its lines"
    message = (
        f"{what} with CRLF as on Windows, and a shell reads the carriage return as part of a word; "
        "convert them to LF (prowess check --fix does), and keep LF with '*.sh text eol=lf' in .gitattributes"
    )
    return ExecNotice(code="script_crlf", message=message)


def command_interpreter() -> Interpreter:
    """Return the interpreter for command lines, bash. Raises ScriptUnsupportedError if bash is not installed."""
    rule = next(rule for rule in INTERPRETERS if rule.name == "bash")
    return _installed(rule, (), "a command line")


def has_interpreter(script: str, first_bytes: bytes) -> bool:
    """Whether an interpreter of the table, or another one that the first line names, would run this file."""
    program, _ = _shebang(first_bytes)
    return program is not None or _rule_by_extension(script, {}) is not None


def _shebang(first_bytes: bytes) -> tuple[str | None, list[str]]:
    if not first_bytes.startswith(b"#!"):
        return None, []
    line = first_bytes[2:LONGEST_SHEBANG].split(b"\n", 1)[0].decode("utf-8", "replace")
    words = line.split()
    if words and words[0].rpartition("/")[2] == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    if not words:
        return None, []
    return words[0].rpartition("/")[2], words[1:]


def _rule_by_shebang(program: str | None) -> InterpreterRule | None:
    if program is None:
        return None
    name = re.sub(r"\.[0-9]+$", ".N", program)
    return next((rule for rule in INTERPRETERS if name in rule.shebangs), None)


def _rule_by_extension(script: str, extra: Mapping[str, str]) -> InterpreterRule | None:
    extension = _extension(script)
    name = extra.get(extension)
    return next((rule for rule in INTERPRETERS if extension in rule.extensions or rule.name == name), None)


def _extension(script: str) -> str:
    name = script.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return f"{dot}{ending}".lower() if stem and dot else ""


def _kept_flags(rule: InterpreterRule, options: list[str]) -> tuple[str, ...]:
    return tuple(
        option
        for option in options
        if len(option) > 1 and option.startswith("-") and all(letter in rule.flags for letter in option[1:])
    )


def _nothing_fits(script: str, program: str | None) -> str:
    known = ", ".join(f"{rule.name} ({' '.join(rule.extensions)})" for rule in INTERPRETERS)
    if program is not None:
        return f"its first line asks for {program!r}, which is not one of the interpreters: {known}"
    if extension := _extension(script):
        return f"no interpreter is configured for {extension!r}; there is one for: {known}"
    return f"it has neither a shebang nor an extension; give it one of: {known}"


def _installed(rule: InterpreterRule, arguments: tuple[str, ...], what: str) -> Interpreter:
    for path in rule.programs:
        if os.access(path, os.X_OK):
            return Interpreter(name=rule.name, command=(path, *arguments))
    places = " or ".join(rule.programs)
    remedy = f"install it (Debian: apt-get install {rule.package}) or configure its path"
    raise ScriptUnsupportedError(what, f"{rule.name} is not installed at {places}; {remedy}")
