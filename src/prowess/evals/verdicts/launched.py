"""The command that a launcher such as `timeout`, `xargs` or `find -exec` starts, as far as its words tell it.

`launchers.started_by` takes every word as a possible program, since a rule that denies must miss none. A verdict needs
the one that ran: `timeout 5 cat FILE` does not run FILE.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.shell.command_line import ShellWord
from prowess._internal.shell.launchers import put_by_xargs
from prowess.evals.verdicts.programs import program_name

if TYPE_CHECKING:
    from prowess._internal.shell.step import ShellStep

Words = tuple[ShellWord, ...]

_PLAIN = frozenset(
    {
        "bunx", "busybox", "caffeinate", "dbus-run-session", "exec", "fakeroot", "gosu", "hatch", "hyperfine", "nohup",
        "ltrace", "mise", "pdm", "pipenv", "pkexec", "rlwrap", "rye", "setsid", "torsocks", "toybox", "tsocks",
        "builtin", "chrt", "command", "firejail", "prlimit", "setpriv", "taskset", "unbuffer", "valgrind",
    }
)  # fmt: skip
_OPTIONS_WITH_VALUE = {  # of each launcher
    "bwrap": "--bind --ro-bind --chdir --dev --proc",
    **dict.fromkeys(("conda", "mamba", "micromamba"), "-n -p --name --prefix --cwd"),
    **dict.fromkeys(("npm", "pnpm", "yarn"), "--prefix --cwd -C --dir -w --workspace -F --filter"),
    "cpulimit": "-l -p -e",
    "doas": "-u -C",
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        "-v -e -w -u -p --name --user --mount --network --entrypoint --env --env-file --workdir --volume",
    ),
    "env": "-u -C --unset --chdir",
    "flock": "-w -E -c",
    "ionice": "-c -n -p",
    "nice": "-n --adjustment",
    "npx": "-p --package",
    "perf": "-e -o",
    "pipx": "--spec --python",
    "poetry": "-C --directory -P --project",
    "script": "-c",
    "stdbuf": "-i -o -e",
    "strace": "-e -o -p -s -u",
    "sudo": "-u -g -h -p -C -D -T -U --user --group",
    "systemd-run": "-p --unit -u",
    "time": "-f -o",
    "timeout": "-s -k --signal --kill-after",
    "unshare": "-S -G",
    "uv": "--with --python -p --extra --group --directory --project --package --with-requirements --with-editable "
    "--env-file --index-url --cwd",
    "uvx": "--with --python -p --from",
    "watch": "-n --interval",
    "xargs": "-I -n -P -L -d -a -s -E -J -R --max-args --max-procs --delimiter --arg-file",
    "xvfb-run": "-s -n -e -f -p",
}
# Words before the command: a lock, a folder, an image.
_SKIPPED = dict.fromkeys(("flock", "chroot", "docker", "podman", "nerdctl"), 1)
_FIND = frozenset({"find", "fd", "fdfind", "bfs", "gfind"})
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_SUBCOMMANDS = frozenset({"run", "exec", "x", "dlx", "tool", "stat", "record"})
_NO_PROGRAM = re.compile(r"[A-Za-z_]\w*=.*|\d+(?:\.\d+)?[smhd]?|0x[\da-f]+|[\d,-]+", re.DOTALL)
_ANYTHING = ShellWord(text="", expands=True)


def launched_by(step: ShellStep) -> ShellStep | None:
    """Return the command that a step starts in turn; None if its program is no launcher, or starts none.

    A word that the launcher replaces (`{}`) has `expands` set.
    """
    name, words = program_name(step.words[0].text), step.words
    if name in _FIND:
        started = _of_find(words)
    elif name in _PLAIN or name in _OPTIONS_WITH_VALUE or name in _SKIPPED:
        started = _rest(name, words)
    else:
        return None
    if name == "xargs" and started:
        started = _with_input(words[: len(words) - len(started)], started)
    return replace(step, words=started, alone=False) if started else None


def line_of(step: ShellStep) -> str | None:
    """Return the command line that `watch`, `script -c`, `su -c` or `env -S` gets as a single word."""
    name = program_name(step.words[0].text)
    if name not in ("watch", "script", "su", "runuser", "sg", "flock", "env", "npx", "tmux", "screen"):
        return None
    texts = [word.text for word in step.words[1:] if " " in word.text.strip() and not word.expands]
    if name == "env" and not any(word.text.startswith(("-S", "--split-string")) for word in step.words):
        return None
    return texts[-1].removeprefix("-S").removeprefix("--split-string=") if texts else None


def _of_find(words: Words) -> Words:
    start = next((place for place, word in enumerate(words) if word.text in _EXEC), None)
    if start is None:
        return ()
    rest = words[start + 1 :]
    end = next((place for place, word in enumerate(rest) if word.text in (";", "+", "\\;")), len(rest))
    given = tuple(replace(word, expands=True) if "{" in word.text else word for word in rest[:end])
    return given if any(word.expands for word in given) else (*given, _ANYTHING)


def _rest(name: str, words: Words) -> Words:
    """Return the words after the options of a launcher, their values, and its subcommand."""
    with_value = _OPTIONS_WITH_VALUE.get(name, "").split()
    place, skipped = 1, _SKIPPED.get(name, 0)
    while place < len(words):
        text = words[place].text
        if text.startswith("-") and not words[place].expands:
            if name == "command" and text in ("-v", "-V"):
                return ()
            place += 1 + (text in with_value)
        elif _NO_PROGRAM.fullmatch(text) or text in _SUBCOMMANDS:
            place += 1
        elif skipped:
            skipped, place = skipped - 1, place + 1
        else:
            return words[place:]
    return ()


def _with_input(options: Words, words: Words) -> Words:
    """Return the command of `xargs` with its input: in place of `{}`, or at the end."""
    put = put_by_xargs(options)[1:]
    if not put:
        return (*words, _ANYTHING)
    return tuple(
        replace(word, text="{}" if word.text in put else word.text, expands=True)
        if any(text in word.text for text in put)
        else word
        for word in words
    )
