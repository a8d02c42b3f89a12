"""Programs that start other programs: which commands a simple command may start, judged by its words alone.

    env A=1 git push            →   git push
    bash -lc 'cd x && git push' →   cd x, git push
    xargs -n1 git               →   git, followed by anything

The answer is for rules that refuse, so it holds more rather than less: every word behind `env`, `nohup` or `find -exec`
may be the program. A program that reads its commands from a file is not followed: what a file does is bounded by the
sandbox, not by a pattern.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.shell.command_line import ShellParts, ShellWord, SimpleCommand, parse_command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 128  # commands in one command: a shell in a shell, the words behind `env`
_SHELLS = frozenset({"ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"})
_PREFIXES = frozenset(
    {
        "busybox",
        *("caffeinate", "chroot", "chrt", "command", "cpulimit", "dbus-run-session", "docker", "doas", "env", "exec"),
        *(
            "fakeroot",
            "find",
            "firejail",
            "flock",
            "gdb",
            "ionice",
            "kubectl",
            "ltrace",
            "nice",
            "nohup",
            "npx",
            "nsenter",
        ),
        *(
            "parallel",
            "perf",
            "pkexec",
            "podman",
            "prlimit",
            "proot",
            "rlwrap",
            "runuser",
            "script",
            "setarch",
            "setpriv",
        ),
        *("setsid", "ssh", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "time", "timeout", "toybox"),
        *("tsocks", "torsocks", "unbuffer", "unshare", "uv", "uvx", "valgrind", "watch", "xargs", "xvfb-run"),
    }
)
_ADDS_ARGUMENTS = frozenset({"parallel", "xargs"})
_TEXTS = frozenset(
    {"env", "flock", "parallel", "runuser", "script", "ssh", "su", "sudo", "watch"}
)  # take command lines
_CODE = re.compile(r"(awk|gawk|mawk|nawk|node|nodejs|bun|deno|lua|osascript|perl|php|python|ruby|tclsh)[\d.]*")
_CODE_OPTION = re.compile(r"-[A-Za-z]*[cer]|--(?:eval|execute|print|run)")
_GLUED = re.compile(r"-[A-Za-z]|--[A-Za-z-]+=")  # before the text that belongs to an option
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ANYTHING = ShellWord(text="", expands=True)


class StartedCommands(Struct, frozen=True, kw_only=True):
    """What a command may start.

    `commands` are argument vectors. `unknown` tells that it may be anything, because its text cannot be taken apart or
    comes from elsewhere. `code` is text in another language, which may start whatever it names.
    """

    commands: tuple[SimpleCommand, ...] = ()
    unknown: bool = False
    code: tuple[str, ...] = ()


def started_by(command: SimpleCommand) -> StartedCommands:
    """Return what `command` may start besides itself, directly or through what it starts. Raises nothing."""
    found: dict[SimpleCommand, None] = {}
    code: list[str] = []
    waiting = [command]
    while waiting:
        one = waiting.pop()
        part = _started_once(one)
        if part.unknown or len(found) + len(part.commands) > _MOST:
            return StartedCommands(unknown=True)
        code += part.code
        waiting += [other for other in part.commands if other not in found]
        found |= dict.fromkeys(part.commands)
    return StartedCommands(commands=tuple(found), code=tuple(code))


def _started_once(command: SimpleCommand) -> StartedCommands:
    program, words = command.words[0].text.rpartition("/")[2], command.words
    parts: list[StartedCommands] = []
    if program in _SHELLS:
        parts.append(_of_shell(program, words))
    if program in _PREFIXES:
        tail = (_ANYTHING,) if program in _ADDS_ARGUMENTS else ()
        parts += [_suffix(words[place:], tail) for place in range(1, min(len(words), _MOST + 2))]
    if program in _TEXTS:
        texts = [word for word in words[1:] if " " in word.text or _GLUED.match(word.text)]
        parts += [_of_text(ShellWord(text=_GLUED.sub("", word.text, count=1), expands=word.expands)) for word in texts]
    if _CODE.fullmatch(program):
        parts.append(StartedCommands(code=tuple(_inline_code(program, words))))
    return StartedCommands(
        commands=tuple(one for part in parts for one in part.commands),
        unknown=any(part.unknown for part in parts),
        code=tuple(text for part in parts for text in part.code),
    )


def _of_shell(program: str, words: tuple[ShellWord, ...]) -> StartedCommands:
    """Read `sh [options] [-c text | file]`; without a text and a file it takes its commands from its input."""
    rest = list(words[2:] if program == "busybox" else words[1:])
    if program == "busybox" and (len(words) == 1 or words[1].text not in _SHELLS):
        return StartedCommands()
    takes_text = False
    while rest and (rest[0].text[:1] in {"-", "+"} or rest[0].expands):
        option = rest.pop(0)
        if option.expands:
            return StartedCommands(unknown=True)
        if option.text == "--":
            break
        takes_text = (
            takes_text or (not option.text.startswith("--") and "c" in option.text) or option.text == "--command"
        )
        if option.text.lstrip("-+") in {"o", "O", "rcfile", "init-file"}:
            rest = rest[1:]
    if takes_text:
        return _of_text(rest[0]) if rest else StartedCommands()
    if any(word.text in {"--help", "--version"} for word in words[1:]):
        return StartedCommands()
    return StartedCommands(unknown=not rest or rest[0].expands or rest[0].text.startswith(("/dev/", "/proc/")))


def _of_text(word: ShellWord) -> StartedCommands:
    if word.expands:
        return StartedCommands(unknown=True)
    parts = parse_command_line(word.text) if word.text.strip() else None
    if parts is None:
        return StartedCommands()
    return StartedCommands(commands=parts.commands) if isinstance(parts, ShellParts) else StartedCommands(unknown=True)


def _suffix(words: tuple[ShellWord, ...], tail: tuple[ShellWord, ...]) -> StartedCommands:
    """Return the words as a command of their own; `{}` and its kin stand for what another program puts there."""
    if words[0].text.startswith("-") or _ASSIGNMENT.match(words[0].text):
        return StartedCommands()
    given = tuple(ShellWord(text=word.text, expands=True) if "{" in word.text else word for word in words)
    return StartedCommands(commands=(SimpleCommand(words=(*given, *tail)),))


def _inline_code(program: str, words: tuple[ShellWord, ...]) -> Iterator[str]:
    if program.endswith("awk"):
        yield from (word.text for word in words[1:])
        return
    for place, word in enumerate(words[1:], start=1):
        if _CODE_OPTION.fullmatch(word.text):
            yield from (later.text for later in words[place + 1 :])
            return
        if word.text.startswith(("-c", "-e", "-E", "-r", "--eval=", "--print=")):
            yield word.text
