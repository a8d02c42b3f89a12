"""Patterns of a tool, held against structured arguments of a call, never against a rendered call.

Bash has a command line, the file tools have paths, the searches have a directory,
WebFetch has a URL (`domain:HOST`, see `prowess._internal.text.url_host`) and Agent a kind of sub-agent (names, with
commas between). For any other tool nobody has said what a pattern would mean, so it fits nothing for certain; write the
bare name to permit the whole tool.

`${CLAUDE_SKILL_DIR}` and its kin (`prowess.format.fields.tool_patterns`) are values that no shell and no glob reads
again. A pattern `NAME:VALUE` about another argument of the call permits nothing, and refuses a call with that value.

Patterns for files: a gitignore-style glob on the resolved path, anchored at the workspace.

    *.md        at any depth (there is no slash in it)
    docs/*      one level below docs
    docs/**     everything below docs; docs/ is the same
    /notes.md   in the workspace itself
    //etc/**    outside: two slashes begin an absolute path

A path is resolved before it is matched: links are followed, then `..` is applied, as the system does it. What lies
outside the workspace fits no pattern but an absolute one. A search (Glob, Grep) fits for certain where everything
below its directory does, and may fit where something below it does.

Patterns for command lines: words that an argument vector must fit, one by one.

`git status:*` is `git status *`. A last word `*` stands for any arguments, also for none; without it the vector must
fit to its end. `*` inside a word stands for any characters of that word, and in the name of the program for none that
is a `/`. Quotes hold a word together and do not belong to it.

A rule that permits asks whether a line fits for certain; a rule that refuses asks whether it may. Between the two lie
words that bash expands, and lines that cannot be taken apart: they may do anything, so they are refused and never
permitted.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize

from msgspec import Struct

from prowess._internal.files.workspace_root import ignores_case, relative_to_workspace
from prowess._internal.globs import BELOW, DEEP, PathGlob, as_written, fits_stars, path_components
from prowess._internal.shell.command_line import ShellParts, parse_command_line
from prowess._internal.shell.launchers import started_by
from prowess._internal.text.url_host import fits_host, host_of_url, host_pattern
from prowess.format.fields.placeholders import PROJECT_VARIABLE
from prowess.format.fields.tool_patterns import (
    COMMAND_TOOLS,
    DOMAIN,
    FILE_TOOLS,
    NAME_TOOLS,
    SEARCH_TOOLS,
    URL_TOOLS,
    VARIABLE,
)
from prowess.policy.decision import CERTAIN, Fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess._internal.shell.command_line import ShellWord, SimpleCommand


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """Where a path leads; `inside` are its components below the workspace, None where it leaves it.

    `folded` tells that case does not count there; the components are then in one case and one Unicode form.
    """

    absolute: tuple[str, ...]
    inside: tuple[str, ...] | None
    folded: bool = False


def resolve(path: str, workspace: str | None) -> ResolvedPath | None:
    """Follow `path` from the workspace; None where it leads nowhere that can be named.

    `/workspace` and an absolute name of the workspace mean the workspace, as they do to the file tools; `~` is a name.
    This looks at links and opens nothing. A file that does not exist yet is resolved as far as it goes.
    """
    if not path or (workspace is None and not os.path.isabs(path)):
        return None
    try:
        root = None if workspace is None else os.path.realpath(workspace)
        named = path
        if workspace is not None and root is not None:
            relative = relative_to_workspace(path, root, os.path.abspath(workspace)) if os.path.isabs(path) else path
            named = path if relative is None else os.path.join(root, relative)
        real = os.path.realpath(named)
    except (OSError, ValueError):
        return None
    folded = ignores_case(root or os.path.dirname(real))
    absolute = _components(real, folded=folded)
    above = None if root is None else _components(root, folded=folded)
    inside = absolute[len(above) :] if above is not None and absolute[: len(above)] == above else None
    return ResolvedPath(absolute=absolute, inside=inside, folded=folded)


class PathPattern(Struct, frozen=True, kw_only=True):
    """One glob of a policy; `absolute` compares it with the whole path, not with the part below the workspace."""

    source: str
    glob: PathGlob
    folded: PathGlob  # for places where case does not count
    absolute: bool = False

    @classmethod
    def parse(cls, source: str) -> PathPattern:
        """Read a glob; every text is one, and one that climbs with `..` or names nothing fits nothing."""
        text = source.strip()
        parts = path_components(text)
        body = text.rstrip("/")
        anywhere = "**/" if parts and "/" not in body else ""
        below = "/**" if parts and text != body else ""
        globs = () if ".." in parts else (f"{anywhere}{body}{below}",)
        return cls(
            source=source,
            glob=PathGlob.parse(*globs),
            folded=PathGlob.parse(*map(_folded, globs)),
            absolute=text.startswith("//"),
        )

    def matches(self, path: ResolvedPath) -> bool:
        """Whether this file fits."""
        parts = self._relevant(path)
        return bool(parts) and self._glob(path).matches(parts or ())

    def covers(self, directory: ResolvedPath) -> bool:
        """Whether everything below this directory fits."""
        parts = self._relevant(directory)
        if parts is None:
            return False
        glob = self._glob(directory)
        return any(glob.alternatives[number][index:] == BELOW for number, index in glob.after(parts))

    def may_cover(self, directory: ResolvedPath) -> bool:
        """Whether something at or below this directory could fit."""
        if self.absolute or directory.inside is not None:
            return bool(self._glob(directory).after(self._relevant(directory) or ()))
        return False

    def finds_only_fitting(self, directory: ResolvedPath, glob: str) -> bool:
        """Whether all that a search for `glob` below `directory` finds fits, because the two globs are equal."""
        # Glob takes braces for alternatives, a pattern does not; and it compares by case, whatever the system does.
        if directory.inside is None or directory.folded or self.absolute or "{" in glob:
            return False
        asked = tuple(path_components(glob))
        same, of_this_name = (*directory.inside, *asked), (DEEP, *asked[-1:])  # the latter at any depth
        return bool(asked) and any(pattern in (same, of_this_name) for pattern in self.glob.alternatives)

    def _glob(self, path: ResolvedPath) -> PathGlob:
        return self.folded if path.folded else self.glob

    def _relevant(self, path: ResolvedPath) -> tuple[str, ...] | None:
        return path.absolute if self.absolute else path.inside


def judge_file(paths: Sequence[object], patterns: Sequence[PathPattern], workspace: str | None) -> Fit:
    """Hold the files that a call names against patterns; each of them needs one."""
    named = [path for path in paths if isinstance(path, str)]
    if not named or len(named) != len(paths):
        return Fit(certain=False, possible=True, kind="path", reason="it names no file")
    resolved = [resolve(path, workspace) for path in named]
    return _judge(
        named,
        certain=[path is not None and any(pattern.matches(path) for pattern in patterns) for path in resolved],
        possible=[path is None or any(pattern.matches(path) for pattern in patterns) for path in resolved],
        patterns=patterns,
    )


def judge_search(root: object, patterns: Sequence[PathPattern], workspace: str | None, *, glob: object = None) -> Fit:
    """Hold a search below `root` against patterns; `glob` is what it looks for, None where it looks into every file."""
    if not isinstance(root, str):
        return Fit(certain=False, possible=True, kind="path", reason="it names no directory")
    resolved = resolve(root, workspace)

    def fits(pattern: PathPattern, directory: ResolvedPath) -> bool:
        narrow = isinstance(glob, str) and pattern.finds_only_fitting(directory, glob)
        return narrow or pattern.covers(directory) or pattern.matches(directory)

    return _judge(
        [root],
        certain=[resolved is not None and any(fits(pattern, resolved) for pattern in patterns)],
        possible=[resolved is None or any(pattern.may_cover(resolved) for pattern in patterns)],
        patterns=patterns,
    )


def _judge(paths: Sequence[str], *, certain: list[bool], possible: list[bool], patterns: Sequence[PathPattern]) -> Fit:
    if all(certain):
        return CERTAIN
    shown = paths[certain.index(False)][:120]
    globs = ", ".join(f"'{pattern.source}'" for pattern in patterns)[:200]
    return Fit(certain=False, possible=any(possible), kind="path", reason=f"'{shown}' fits none of {globs}")


def _components(path: str, *, folded: bool) -> tuple[str, ...]:
    return tuple(part for part in (_folded(path) if folded else path).split(os.sep) if part)


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()


_CLUSTER = re.compile(r"-[A-Za-z]+")  # `-rf`: options of one letter, written together
_PATTERN_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^ \t"'])+""")
Variables = tuple[tuple[str, str], ...]  # name and value


class CommandPattern(Struct, frozen=True, kw_only=True):
    """One pattern; `anything` is the pattern `*` alone, which permits every line, also one that cannot be parsed.

    `doubtful`: the value of a variable holds a `*`, which is no sign of the pattern, so nothing fits for certain.
    """

    source: str
    words: tuple[str, ...]
    open_end: bool
    doubtful: bool = False

    @classmethod
    def parse(cls, source: str, variables: Variables = ()) -> CommandPattern:
        """Read a pattern; every text is one. One with an open quote is split at blanks alone."""
        text = source.strip()
        text = f"{text[:-2]} *" if text.endswith(":*") else text
        quoted = text.count('"') % 2 == 0 and text.count("'") % 2 == 0
        words = _PATTERN_WORD.findall(text) if quoted else [word for word in re.split(r"[ \t]", text) if word]
        open_end = words[-1:] == ["*"]
        named = [re.sub(r"[\"']", "", word) if quoted else word for word in (words[:-1] if open_end else words)]
        return cls(
            source=source,
            words=tuple(_with_values(word, variables) for word in named),
            open_end=open_end,
            doubtful="$" in text and any("*" in value for _, value in variables),
        )

    @property
    def anything(self) -> bool:
        """Whether no line is outside of it."""
        return self.source.strip() == "*"

    def fits(self, command: SimpleCommand) -> bool:
        """Whether bash, whatever files there are, passes arguments that fit."""
        given = command.words
        if self.doubtful or len(given) < len(self.words) or (len(given) > len(self.words) and not self.open_end):
            return False
        return all(
            not word.expands and matches_stars(pattern, word.text, slash=place > 0)
            for place, (pattern, word) in enumerate(zip(self.words, given, strict=False))
        )

    def may_fit(self, command: SimpleCommand) -> bool:
        """Whether bash could pass arguments that fit.

        A program counts by its last component as well. Options may stand between the words of a pattern, each with a
        value (`git -C . push` is `git push`), and the letters of an option may be given apart (`rm -r -f` is `rm -rf`).
        """
        given = command.words
        if given[0].expands or not self.words:
            return given[0].expands or self.open_end
        names = (given[0].text, given[0].text.rpartition("/")[2])
        if not any(matches_stars(self.words[0], name, slash=True) for name in names):
            return False
        letters = {letter for word in given[1:] if _CLUSTER.fullmatch(word.text) for letter in word.text[1:]}
        wanted = [word for word in self.words[1:] if not (_CLUSTER.fullmatch(word) and letters.issuperset(word[1:]))]
        if len(wanted) < len(self.words) - 1 and self._reaches(given, wanted):
            return True
        return self._reaches(given, self.words[1:])

    def _reaches(self, given: Sequence[ShellWord], wanted: Sequence[str]) -> bool:
        """Whether `wanted` stand in the arguments in this order, with nothing but options between them."""
        places = {0}  # how many of `wanted` may have been met
        for at, word in enumerate(given[1:], start=1):
            if (self.open_end and len(wanted) in places) or (word.expands and places != {len(wanted)}):
                return True
            option = word.text.startswith("-") and word.text != "-"
            value = given[at - 1].text.startswith("-") and at > 1
            unmet = {place for place in places if place < len(wanted)}
            met = {place + 1 for place in unmet if matches_stars(wanted[place], word.text, slash=True)}
            kept = unmet if option or value else set()
            places = met | kept
            if not places:
                return False
        return len(wanted) in places


def judge_command(line: object, patterns: Sequence[CommandPattern]) -> Fit:
    """Hold a command line against patterns, of which each part needs one."""
    if any(pattern.anything for pattern in patterns):
        return CERTAIN
    if not isinstance(line, str):
        return Fit(certain=False, possible=True, kind="command", reason="it has no command line")
    parts = parse_command_line(line)
    if not isinstance(parts, ShellParts):
        return Fit(certain=False, possible=True, kind=parts.construct, reason=parts.reason)
    foreign = next((part for part in parts.commands if not any(pattern.fits(part) for pattern in patterns)), None)
    if foreign is None:
        return CERTAIN
    possible = any(_may_start(part, pattern) for part in parts.commands for pattern in patterns)
    return Fit(certain=False, possible=possible, kind="command", reason=_why(foreign, patterns))


def _may_start(command: SimpleCommand, pattern: CommandPattern) -> bool:
    """Whether the command, or one that it starts, may fit."""
    if pattern.may_fit(command):
        return True
    others = started_by(command)
    name = re.escape(pattern.words[0].strip("*").rpartition("/")[2]) if pattern.words else ""
    return (
        others.unknown
        or any(pattern.may_fit(other) for other in others.commands)
        or any(re.search(rf"(?<![\w-]){name}(?![\w-])" if name else "", text) for text in others.code)
    )


def _why(command: SimpleCommand, patterns: Sequence[CommandPattern]) -> str:
    expanding = next((word.text for word in command.words if word.expands), None)
    shown = _shortened(" ".join(command.argv))
    permitted = _shortened(", ".join(f"'{pattern.source}'" for pattern in patterns))
    why = f"'{shown}' fits none of {permitted}"
    return why if expanding is None else f"{why} (bash puts file names in the place of '{_shortened(expanding)}')"


def _shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def matches_stars(pattern: str, text: str, *, slash: bool) -> bool:
    """Whether `text` fits a pattern in which only `*` is special; without `slash` a star stands for no `/`."""
    if slash or "/" not in f"{pattern}{text}":
        return fits_stars(text, pattern)
    pieces, parts = text.split("/"), pattern.split("/")
    return len(pieces) == len(parts) and all(map(fits_stars, pieces, parts))


_SPECIAL = "*?[{"
_command_pattern = lru_cache(maxsize=512)(CommandPattern.parse)
_path_pattern = lru_cache(maxsize=512)(PathPattern.parse)


def judge(
    tool: str,
    patterns: Sequence[str],
    arguments: Mapping[str, object],
    workspace: str | None,
    variables: Variables = (),
) -> Fit:
    """Hold the arguments of a call against the patterns of that tool; `tool` is canonical."""
    if not any("$" in pattern for pattern in patterns):
        variables = ()
    elif workspace is not None:
        variables = (*variables, (PROJECT_VARIABLE, os.path.realpath(workspace)))
    fit = _judge_by_tool(tool, patterns, arguments, workspace, variables)
    if not fit.possible and any(_names_argument(pattern, arguments) for pattern in patterns):
        return Fit(certain=False, possible=True, kind="argument", reason="an argument has this value")
    return fit


def _judge_by_tool(
    tool: str, patterns: Sequence[str], arguments: Mapping[str, object], workspace: str | None, variables: Variables
) -> Fit:
    if tool in COMMAND_TOOLS:
        commands = [_command_pattern(text, variables) for text in patterns]
        return judge_command(arguments.get(COMMAND_TOOLS[tool]), commands)
    if tool in FILE_TOOLS:
        named = [arguments[name] for name in FILE_TOOLS[tool] if name in arguments]
        return judge_file(named, [_path_pattern(_placed(text, variables)) for text in patterns], workspace)
    if tool in SEARCH_TOOLS:
        root, glob = search(tool, arguments)
        globs = [_path_pattern(_placed(text, variables)) for text in patterns]
        return judge_search(root, globs, workspace, glob=glob)
    if tool in URL_TOOLS:
        return judge_url(arguments.get(URL_TOOLS[tool]), patterns)
    if tool in NAME_TOOLS:
        return judge_name(arguments.get(NAME_TOOLS[tool]), patterns)
    reason = f"patterns of '{tool}' are not supported; the bare name permits all of it"
    return Fit(certain=False, possible=True, kind="pattern", reason=reason)


def judge_url(url: object, patterns: Sequence[str]) -> Fit:
    """Hold a URL against patterns `domain:HOST`."""
    written = [pattern.strip() for pattern in patterns]
    hosts = [host_pattern(text.removeprefix(DOMAIN).strip()) if text.startswith(DOMAIN) else None for text in written]
    host = host_of_url(url) if isinstance(url, str) else None
    if host is None:
        return Fit(certain=False, possible=True, kind="url", reason="it has no url on a host that can be told")
    if any(pattern is not None and fits_host(host, pattern) for pattern in hosts):
        return CERTAIN
    reason = f"'{host[:120]}' fits none of {', '.join(written)[:200]}"
    return Fit(certain=False, possible=None in hosts, kind="url", reason=reason)  # what is no host may mean this one


def judge_name(name: object, patterns: Sequence[str]) -> Fit:
    """Hold a name against patterns that are names, with commas between; `*` stands for any characters."""
    names = [part.strip() for pattern in patterns for part in pattern.split(",")]
    if isinstance(name, str) and any(fits_stars(name, part) for part in names):
        return CERTAIN
    reason = f"{str(name)[:120]!r} is none of {', '.join(names)[:200]}"
    return Fit(certain=False, possible=not isinstance(name, str), kind="name", reason=reason)


def _with_values(text: str, variables: Variables) -> str:
    """Put the values of variables into a text, once; a variable without a value stays as it is."""
    known = dict(variables)
    return (
        VARIABLE.sub(lambda found: known.get(found[1] or found[2], found[0]), text) if known and "$" in text else text
    )


def _placed(text: str, variables: Variables) -> str:
    """Put values into a pattern of paths, which is then absolute; no sign of a pattern in a value means anything."""
    if not variables or not text.strip().startswith("$"):
        return text
    return _with_values(text.strip(), tuple((name, f"/{as_written(value)}") for name, value in variables))


def _names_argument(pattern: str, arguments: Mapping[str, object]) -> bool:
    name, colon, value = (part.strip() for part in pattern.partition(":"))
    if not colon or name not in arguments:
        return False
    given = arguments[name]
    return fits_stars(given if isinstance(given, str) else json.dumps(given), value)


def search(tool: str, arguments: Mapping[str, object]) -> tuple[object, str | None]:
    """Return the directory below which a search looks and, of Glob, the glob that is left below it.

    The fixed beginning of Glob's pattern belongs to the directory. None for a directory that nobody can tell.
    """
    root = arguments.get(SEARCH_TOOLS[tool])
    root = "." if root is None else root
    pattern = arguments.get("pattern")
    if tool != "Glob" or not isinstance(root, str):
        return root, None
    if not isinstance(pattern, str) or ".." in pattern:
        return None, None  # it may climb, also out of braces, so nothing is known about where it looks
    parts = pattern.split("/")
    fixed = next(
        (place for place, part in enumerate(parts[:-1]) if any(char in part for char in _SPECIAL)), len(parts) - 1
    )
    start = "/".join(parts[:fixed])
    if pattern.startswith("/"):
        return start or "/", "/".join(parts[fixed:])
    return (f"{root}/{start}" if start else root), "/".join(parts[fixed:])
