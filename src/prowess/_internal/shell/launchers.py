"""Find the commands that a command line may start through another program, such as `env` or `xargs`.

    env A=1 git push            →   git push
    bash -lc 'cd x && git push' →   cd x, git push
    xargs -n1 git               →   git, followed by any arguments

The result is compared with rules that deny a command. To miss none, it contains too many commands rather than too few:
every word after `env`, `nohup` or `find -exec` is taken as a possible program. Commands that a program reads from a
file are not part of the result, because the sandbox, not a rule, limits their effects.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.shell.command_line import ShellParts, ShellWord, SimpleCommand, parse_command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 128  # limit on the commands that one command may start, such as nested shells or words after `env`
_SHELLS = frozenset(
    {
        "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "pwsh", "rbash", "sh", "tcsh", "zsh",
    }
)  # fmt: skip
_PREFIXES = frozenset(
    {
        "bunx", "busybox", "bwrap", "caffeinate", "chpst", "chroot", "chrt", "command", "conda", "cpulimit",
        "dbus-run-session", "doas", "docker", "env", "exec", "fakeroot", "fd", "find", "firejail", "flock",
        "gdb", "gosu", "hyperfine", "ionice", "ip", "kubectl", "ltrace", "nice", "nix-shell", "nohup", "npm",
        "npx", "nsenter", "parallel", "perf", "pipx", "pkexec", "pnpm", "podman", "poetry", "prlimit",
        "proot", "rlwrap", "runuser", "screen", "script", "setarch", "setpriv", "setsid", "sg", "ssh",
        "start-stop-daemon", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "time", "timeout",
        "tmux", "torsocks", "toybox", "tsocks", "unbuffer", "unshare", "uv", "uvx", "valgrind", "watch",
        "xargs", "xvfb-run", "yarn",
    }
)  # fmt: skip
_TEXTS = frozenset(  # Programs of `_PREFIXES` for which a single word may be a whole command line.
    {
        "env", "flock", "gdb", "npm", "npx", "runuser", "screen", "script", "sg", "ssh", "su", "sudo", "tmux",
        "watch",
    }
)  # fmt: skip
# Arguments of git that start a program: settings (values of `-c`), options, and subcommands.
_SETS_GIT = re.compile(r"alias|core\.|pager|filter|diff|merge|credential|ssh", re.IGNORECASE)
_OPTIONS_OF_GIT = ("--exec-path=", "--config-env")
_GIT_STARTS = frozenset({"foreach", "run", "rebase", "difftool", "filter-branch"})
# An argument of these programs may contain a command next to other text: `sed -n "1e …"`, `tar --to-command=…`.
_TAKES_COMMANDS = frozenset({"ed", "ex", "gsed", "make", "rsync", "scp", "sed", "socat", "split", "tar", "vi", "vim"})
_CODE = re.compile(r"(awk|gawk|mawk|nawk|node|nodejs|bun|deno|lua|osascript|perl|php|python|ruby|tclsh)[\d.]*")
_CODE_OPTION = re.compile(r"eval|-[A-Za-z]*[cerEpBR]|--(?:eval|execute|print|run)")
_TELLS_VERSION = frozenset({"-V", "-VV", "-h", "-v"})
_NO_WORD = re.compile(r"[\s;&|\\]")  # characters that are never in a single word of a command line
_GLUED = re.compile(r"-[A-Za-z]|--[A-Za-z-]+=")  # an option in front of its value, in the same word
_REPLACES = re.compile(r"-[IJi]|--replace=")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ANYTHING = ShellWord(text="", expands=True)


class StartedCommands(Struct, frozen=True, kw_only=True):
    """Commands that a command may start.

    `commands` are argument vectors. `unknown` is true if the command may start any other command, because its text
    cannot be parsed or comes from a file or another program. `code` is text in another language, which may start any
    command that the text names.
    """

    commands: tuple[SimpleCommand, ...] = ()
    unknown: bool = False
    code: tuple[str, ...] = ()


def started_by(command: SimpleCommand) -> StartedCommands:
    """Return the commands that `command` may start besides itself, directly or indirectly. Never raises."""
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
    if program == "git" and _sets_program([word.text for word in words[1:]]):
        return StartedCommands(unknown=True)
    if program == "env" and any("\\" in word.text for word in words[1:]):
        return StartedCommands(unknown=True)  # -S has its own escapes, such as `git\_push`
    if program == "git" and not _GIT_STARTS.isdisjoint(word.text for word in words[1:]):
        parts += [_suffix(words[place:], (), ("{",)) for place in range(2, min(len(words), _MOST))]
        parts += [_of_text(ShellWord(text=_GLUED.sub("", word.text, count=1))) for word in words if " " in word.text]
    if program in _PREFIXES and (len(words) > _MOST or program == "parallel"):
        return StartedCommands(unknown=True)  # too long to follow, or it reads its arguments from its input
    if program in _PREFIXES:
        tail = (_ANYTHING,) if program == "xargs" else ()
        put = put_by_xargs(words) if program == "xargs" else ("{",)
        parts += [_suffix(words[place:], tail, put) for place in range(1, len(words))]
    if program in _TEXTS:
        splits = program == "env" and any(word.text.startswith(("-S", "--split-string")) for word in words)
        given = [word for word in words[1:] if splits or program != "env" or not _ASSIGNMENT.match(word.text)]
        texts = [word for word in given if _NO_WORD.search(word.text) or _GLUED.match(word.text)]
        parts += [_of_text(ShellWord(text=_GLUED.sub("", word.text, count=1), expands=word.expands)) for word in texts]
    if program in _TAKES_COMMANDS:
        parts.append(StartedCommands(code=tuple(word.text for word in words[1:] if " " in word.text)))
    if _CODE.fullmatch(program):
        options = [word.text for word in words[1:]]
        told = options[:1] and (options[0].startswith("--") or options[0] in _TELLS_VERSION)
        if all(option.startswith("-") for option in options) and not told:
            return StartedCommands(unknown=True)  # it reads its code from its input
        parts.append(StartedCommands(code=tuple(_inline_code(program, words))))
    return StartedCommands(
        commands=tuple(one for part in parts for one in part.commands),
        unknown=any(part.unknown for part in parts),
        code=tuple(text for part in parts for text in part.code),
    )


def _sets_program(arguments: list[str]) -> bool:
    """Return whether arguments of git set a program to start: `-c alias.x=push`, `-ccore.pager=…`, `--exec-path=…`."""
    settings = [after for one, after in pairwise(arguments) if one == "-c"]
    settings += [one[2:] for one in arguments if one.startswith("-c")]
    return any(map(_SETS_GIT.match, settings)) or any(one.startswith(_OPTIONS_OF_GIT) for one in arguments)


def text_of_shell(command: SimpleCommand) -> ShellWord | None:
    """Return the command line that `sh -c` or another shell is given as a word; None if it is given none."""
    program = command.words[0].text.rpartition("/")[2]
    if program not in _SHELLS:
        return None
    given = _given_to_shell(program, command.words)
    return given.rest[0] if given is not None and given.takes_text and given.rest else None


class _GivenToShell(Struct, frozen=True, kw_only=True):
    """What a shell is started with: `-c`, `-s`, and the words after its options."""

    takes_text: bool
    takes_input: bool
    rest: list[ShellWord]


def _given_to_shell(program: str, words: tuple[ShellWord, ...]) -> _GivenToShell | None:
    """Parse the options of a shell. None if a word that the shell would expand is among them."""
    rest = list(words[2:] if program == "busybox" else words[1:])
    takes_text = takes_input = False
    while rest and (rest[0].text[:1] in {"-", "+"} or rest[0].expands):
        option = rest.pop(0)
        if option.expands:
            return None
        if option.text == "--":
            break
        letters = "" if option.text.startswith("--") else option.text[1:]
        takes_text = takes_text or "c" in letters or option.text == "--command"
        takes_input = takes_input or "s" in letters
        values = letters.count("o") + letters.count("O") + (option.text in {"--rcfile", "--init-file"})
        rest = rest[values:]
    return _GivenToShell(takes_text=takes_text, takes_input=takes_input, rest=rest)


def _of_shell(program: str, words: tuple[ShellWord, ...]) -> StartedCommands:
    """Parse `sh [options] [-c text | file]`. If there is neither a text nor a file, the shell reads its input."""
    if program == "busybox" and (len(words) == 1 or words[1].text not in _SHELLS):
        return StartedCommands()
    given = _given_to_shell(program, words)
    if given is None:
        return StartedCommands(unknown=True)
    rest = given.rest
    if given.takes_text:
        return _of_text(rest[0]) if rest else StartedCommands()
    if words[1:2] and words[1].text in {"--help", "--version"}:
        return StartedCommands()
    device = bool(rest) and not {"dev", "proc"}.isdisjoint(rest[0].text.split("/"))
    return StartedCommands(unknown=given.takes_input or not rest or rest[0].expands or device)


def _of_text(word: ShellWord) -> StartedCommands:
    if word.expands:
        return StartedCommands(unknown=True)
    parts = parse_command_line(word.text) if word.text.strip() else None
    if parts is None:
        return StartedCommands()
    return StartedCommands(commands=parts.commands) if isinstance(parts, ShellParts) else StartedCommands(unknown=True)


def put_by_xargs(words: tuple[ShellWord, ...]) -> tuple[str, ...]:
    """Return the texts that `xargs` replaces by its input: `X` in `-I X`, `-IX`, `-JX` and `--replace=X`."""
    texts = [word.text for word in words]
    apart = [after for one, after in pairwise(texts) if one in {"-I", "-J"}]
    joined = [_REPLACES.sub("", one, count=1) for one in texts if _REPLACES.match(one)]
    return ("{", *filter(None, (*apart, *joined)))


def _suffix(words: tuple[ShellWord, ...], tail: tuple[ShellWord, ...], put: tuple[str, ...]) -> StartedCommands:
    """Return the words as a separate command. A word that contains a text of `put` counts as unknown (`expands`)."""
    if words[0].text.startswith("-") or _ASSIGNMENT.match(words[0].text):
        return StartedCommands()
    given = tuple(
        ShellWord(text=word.text, expands=True) if any(text in word.text for text in put) else word for word in words
    )
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
