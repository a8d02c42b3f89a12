"""Programs that print a file, run a script, copy a file, or start a command somewhere else."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess._internal.shell.step import ShellStep

READERS = frozenset(
    {
        "cat", "tac", "head", "tail", "less", "more", "most", "bat", "batcat", "nl", "sed", "gsed", "awk", "gawk",
        "mawk", "nawk", "od", "xxd", "hexdump", "strings", "cut", "fold", "fmt", "pr", "expand", "paste", "glow",
        "mdcat", "iconv", "tr", "sort", "uniq", "rev", "view", "get-content", "gc", "type", "column", "pandoc", "jq",
        "base64", "ccat", "pygmentize", "highlight", "mdless", "lolcat",
    }
)  # fmt: skip
PASSING = READERS | {
    "tee", "echo", "printf", "true", "", "out-string", "out-host", "select-object", "perl", "write-output",
    "write-host", "out-default", "foreach-object", "%",
}  # fmt: skip
COPIERS = frozenset({"cp", "mv", "ln", "install", "rsync", "copy", "copy-item", "cpi", "move", "move-item", "mi"})
KEEPERS = frozenset({"mapfile", "readarray", "read"})  # they keep their input in a variable
INTERPRETERS = re.compile(r"(?:python|pypy|py|node|nodejs|deno|bun|ruby|perl|php|rscript|lua|pwsh|powershell)[\d.]*")
TELLING = frozenset(  # they print files, but to list, search or compare, or files that are elsewhere
    {
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "git", "find", "fd", "ls", "dir", "tree", "diff", "cmp",
        "comm", "sdiff", "wc", "stat", "file", "echo", "printf", "curl", "wget", "gh", "findstr", "select-string",
        "get-childitem", "tar", "zip", "unzip", "rm", "touch", "chmod", "mkdir", "test", "[", "patch", "apply_patch",
    }
)  # fmt: skip
SHELLS = re.compile(r"(?:ba|z|da|k|a)?sh")
RUNNERS = re.compile(
    r"(?:python|pypy|py|node|nodejs|deno|bun|ruby|perl|php|rscript|lua|bash|sh|zsh|dash|ksh|fish|pwsh|powershell|tsx"
    r"|ts-node|go|coverage|pipenv|pdm|hatch|rye|source|\.|&)[\d.]*"
)
RUNNING_MODULES = frozenset({"pdb", "cprofile", "profile", "trace", "coverage", "runpy", "debugpy", "run"})
_REMOTE = frozenset({"ssh", "mosh", "rsh", "kubectl", "oc", "vagrant", "lxc", "adb"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_MOUNTS = re.compile(r"-v.*|--volume(?:=.*)?|--mount(?:=.*)?")
_CODE_OPTION = re.compile(r"eval|-[A-Za-z]*[cerEpnR]\d?|--(?:eval|execute|print|run)(?:=.*)?|-(?:command|c)", re.DOTALL)
_READS = re.compile(r"open|read|slurp|file_get_contents|\bcat\b|<>", re.IGNORECASE)
_STARTS = re.compile(r"\bexec|runpy|subprocess|system\b|popen|require|\bimport\b|spawn|sys\.path", re.IGNORECASE)
_WRITES = re.compile(r"write|['\"][wax]b?\+?['\"]|unlink|remove|rename", re.IGNORECASE)
_CALLS = re.compile(r"(^|[;|({]\s*)(?:\$\w+\s*=\s*|&\s+(?=['\"\w./~$]))")  # `& "x"` and `$a = x` of PowerShell
_PATH = re.compile(r"[^\s'\"`(),;<>|=\[\]{}]+")


def program_name(word: str) -> str:
    """Return the name of a program, without its folder and `.exe`, in lower case."""
    return posixpath.basename(word.replace("\\", "/")).casefold().removesuffix(".exe")


def runs_elsewhere(step: ShellStep) -> bool:
    """Whether the command inside sees other files: on another machine, or in a container without a mount."""
    names = {program_name(word.text) for word in step.words}
    if not names.isdisjoint(_REMOTE):
        return True
    return not names.isdisjoint(_CONTAINERS) and not any(_MOUNTS.fullmatch(word.text) for word in step.words)


def text_of_windows_shell(step: ShellStep) -> str | None:
    """Return the command line that `powershell -Command` or `cmd /c` is given, with slashes; None if it is none."""
    name = program_name(step.words[0].text)
    texts = [word.text for word in step.words]
    for place, text in enumerate(texts[1:], start=2):
        option = text.casefold()
        if name == "cmd" and option.lstrip("/") in ("c", "k") and option.startswith("/"):
            return power_shell_line(" ".join(texts[place:]))
        if name in ("powershell", "pwsh") and len(option) > 1 and "-command".startswith(option):
            return power_shell_line(" ".join(texts[place:]))
        if name in ("powershell", "pwsh") and option == "-file":
            return None
    return None


def power_shell_line(line: str) -> str:
    """Return a line of PowerShell as one that the grammar of bash can read: a backslash is no escape there."""
    return _CALLS.sub(r"\1", line.replace("\\", "/"))


def is_copied_from(step: ShellStep) -> Iterator[tuple[str, str]]:
    """Yield the files that a command copies, moves or links, each with the path of the copy."""
    texts = [word.text for word in step.words[1:] if not word.text.startswith("-") or "/" in word.text]
    for source in texts[:-1]:
        yield source, texts[-1]


def code_of(step: ShellStep) -> str | None:
    """Return the program in another language that an interpreter is given as a word or a here-document."""
    name = program_name(step.words[0].text)
    if not INTERPRETERS.fullmatch(name):
        return None
    words = [word.text for word in step.words[1:]]
    if any(map(_CODE_OPTION.fullmatch, words)):
        return "\n".join(words)
    if step.given is not None and all(word.startswith("-") for word in words):
        return step.given
    return None


def paths_in_code(code: str) -> list[str]:
    """Return the words that may be paths in a program."""
    return list(dict.fromkeys(text for text in _PATH.findall(code) if "/" in text or "\\" in text or "." in text))


def reads_files(code: str) -> bool:
    """Whether a program has a word for reading, and none for writing."""
    return _READS.search(code) is not None and _WRITES.search(code) is None


def prints_lines(step: ShellStep) -> bool:
    """Whether `perl -ne` or `ruby -pe` goes through its files, and leaves them as they are."""
    options = [word.text for word in step.words[1:] if re.fullmatch(r"-[A-Za-z]+\d?", word.text)]
    return any(set("np") & set(option) for option in options) and not any("i" in option for option in options)


def starts_files(code: str) -> bool:
    """Whether a program has a word for running another file."""
    return _STARTS.search(code) is not None


def directory_option(words: Sequence[str]) -> str | None:
    """Return the directory in which `uv run --directory DIR` and the like start a command."""
    for option, value in pairwise(words):
        if option in ("--directory", "--cwd", "-C", "--chdir"):
            return value
    return next((word.partition("=")[2] for word in words if word.startswith(("--directory=", "--cwd="))), None)
