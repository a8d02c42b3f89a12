"""Match the patterns of a tool against the structured arguments of a call, never against a rendered call.

The tool determines the argument and the kind of pattern:

    Bash                command line
    Read, Write, Edit   path
    Glob, Grep          directory of the search
    WebFetch            URL (`domain:HOST`, see `prowess._internal.text.url_host`)
    Agent               kind of sub-agent (names separated by commas)

Patterns of other tools match no call for certain. Write the bare name to permit the whole tool. For every tool, a
pattern `NAME:VALUE` possibly matches a call whose argument `NAME` has this value: a rule that denies applies, and a
rule that allows does not. Values of variables such as `${CLAUDE_SKILL_DIR}` (`prowess.format.fields.tool_patterns`) are
literal: no shell and no glob interprets them again.

Path patterns are gitignore-style globs on the resolved path, anchored at the workspace:

    *.md        at any depth (it contains no slash)
    docs/*      one level below docs
    docs/**     everything below docs
    docs/       everything below a directory of this name, at any depth
    /notes.md   in the workspace itself
    //etc/**    outside the workspace: two slashes begin an absolute path

A path is resolved before it is matched: symbolic links are followed, then `..` is applied, as the operating system does
it. A path outside the workspace matches only absolute patterns. A search (Glob, Grep) matches for certain if everything
below its directory matches, and possibly if anything below it can match.

A pattern for command lines consists of words, which are compared one by one with the words of a command. `git status:*`
means `git status *`. A last word `*` matches any arguments, including none; without it, the command must have no
further words. `*` inside a word matches any characters of that word; in the program name it does not match `/`. Quotes
group characters into one word and are not part of it. Words that bash expands, and lines that cannot be parsed, are
only possible matches, because they may do anything. So they are refused and never permitted.
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
    """A path as components, after resolving symbolic links and `..`."""

    absolute: tuple[str, ...]
    inside: tuple[str, ...] | None  # below the workspace; None if the path leaves it
    folded: bool = False  # the file system ignores case: all components are case-folded and NFC-normalised


def resolve(path: str, workspace: str | None) -> ResolvedPath | None:
    """Resolve `path` from the workspace. Return None if it cannot be resolved to a path.

    `/workspace` and the absolute name of the workspace both mean the workspace, as in the file tools; `~` is an
    ordinary name. Reads symbolic links but opens no file. If the file does not exist, the existing part is resolved.
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
    """A path glob of a policy. `absolute` globs match the whole path, other globs the path below the workspace."""

    source: str
    glob: PathGlob
    folded: PathGlob  # for file systems that ignore case
    absolute: bool = False

    @classmethod
    def parse(cls, source: str) -> PathPattern:
        """Parse a glob. Every text is accepted; a glob that contains `..` or is empty matches no path."""
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
        """Return whether the file at `path` matches."""
        parts = self._relevant(path)
        return bool(parts) and self._glob(path).matches(parts or ())

    def covers(self, directory: ResolvedPath) -> bool:
        """Return whether all files below `directory` match."""
        parts = self._relevant(directory)
        if parts is None:
            return False
        glob = self._glob(directory)
        return any(glob.alternatives[number][index:] == BELOW for number, index in glob.after(parts))

    def may_cover(self, directory: ResolvedPath) -> bool:
        """Return whether `directory`, or a file that may exist below it, can match."""
        if self.absolute or directory.inside is not None:
            return bool(self._glob(directory).after(self._relevant(directory) or ()))
        return False

    def finds_only_fitting(self, directory: ResolvedPath, glob: str) -> bool:
        """Return whether all found files match: the pattern is `directory`/`glob`, or `**/` and the end of `glob`."""
        # Glob treats braces as alternatives; a pattern does not. Glob also respects case on every system.
        if directory.inside is None or directory.folded or self.absolute or "{" in glob:
            return False
        asked = tuple(path_components(glob))
        same, of_this_name = (*directory.inside, *asked), (DEEP, *asked[-1:])  # `of_this_name` matches at any depth
        return bool(asked) and any(pattern in (same, of_this_name) for pattern in self.glob.alternatives)

    def _glob(self, path: ResolvedPath) -> PathGlob:
        return self.folded if path.folded else self.glob

    def _relevant(self, path: ResolvedPath) -> tuple[str, ...] | None:
        return path.absolute if self.absolute else path.inside


def judge_file(paths: Sequence[object], patterns: Sequence[PathPattern], workspace: str | None) -> Fit:
    """Compare the files that a call names with patterns. Every file must match at least one pattern."""
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
    """Compare a search below `root` with patterns. `glob` limits the search; with None, the search reads every file."""
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


_CLUSTER = re.compile(r"-[A-Za-z]+")  # `-rf`: one-letter options written together
_PATTERN_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^ \t"'])+""")
Variables = tuple[tuple[str, str], ...]  # pairs of name and value


class CommandPattern(Struct, frozen=True, kw_only=True):
    """A command line pattern. `doubtful` is true if a variable's value contains `*`: then no match is certain."""

    source: str
    words: tuple[str, ...]
    open_end: bool
    doubtful: bool = False

    @classmethod
    def parse(cls, source: str, variables: Variables = ()) -> CommandPattern:
        """Parse a pattern. Every text is accepted; a text with an unclosed quote is split at blanks only."""
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
        """Whether this is the pattern `*`, which matches every line, including lines that cannot be parsed."""
        return self.source.strip() == "*"

    def fits(self, command: SimpleCommand) -> bool:
        """Return whether bash certainly passes matching arguments, regardless of which files exist."""
        given = command.words
        if self.doubtful or len(given) < len(self.words) or (len(given) > len(self.words) and not self.open_end):
            return False
        return all(
            not word.expands and matches_stars(pattern, word.text, slash=place > 0)
            for place, (pattern, word) in enumerate(zip(self.words, given, strict=False))
        )

    def may_fit(self, command: SimpleCommand) -> bool:
        """Return whether bash could pass matching arguments.

        A program also matches by the last component of its path. Options, each with a value, may come between the words
        (`git -C . push` matches `git push`). Letters of an option may be separate (`rm -r -f` matches `rm -rf`).
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
        """Return whether the words `wanted` are in `given` in order, with only options and their values in between."""
        places = {0}  # possible counts of matched words of `wanted`
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
    """Compare a command line with patterns. Each command in the line must match at least one pattern."""
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
    """Return whether `command`, or a command that it starts, can match."""
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
    return why if expanding is None else f"{why} (bash replaces '{_shortened(expanding)}' by file names)"


def _shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def matches_stars(pattern: str, text: str, *, slash: bool) -> bool:
    """Return whether `text` matches a pattern with `*` as only wildcard. If `slash` is false, `*` matches no `/`."""
    if slash or "/" not in f"{pattern}{text}":
        return fits_stars(text, pattern)
    pieces, parts = text.split("/"), pattern.split("/")
    return len(pieces) == len(parts) and all(map(fits_stars, pieces, parts))


_SPECIAL = "*?[{"
command_pattern = lru_cache(maxsize=8192)(CommandPattern.parse)
path_pattern = lru_cache(maxsize=8192)(PathPattern.parse)


def judge(
    tool: str,
    patterns: Sequence[str],
    arguments: Mapping[str, object],
    workspace: str | None,
    variables: Variables = (),
) -> Fit:
    """Compare the arguments of a call with patterns of its tool. `tool` is the canonical name."""
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
        commands = [command_pattern(text, variables) for text in patterns]
        return judge_command(arguments.get(COMMAND_TOOLS[tool]), commands)
    if tool in FILE_TOOLS:
        named = [arguments[name] for name in FILE_TOOLS[tool] if name in arguments]
        return judge_file(named, [path_pattern(_placed(text, variables)) for text in patterns], workspace)
    if tool in SEARCH_TOOLS:
        root, glob = search(tool, arguments)
        globs = [path_pattern(_placed(text, variables)) for text in patterns]
        return judge_search(root, globs, workspace, glob=glob)
    if tool in URL_TOOLS:
        return judge_url(arguments.get(URL_TOOLS[tool]), patterns)
    if tool in NAME_TOOLS:
        return judge_name(arguments.get(NAME_TOOLS[tool]), patterns)
    reason = f"patterns of '{tool}' are not supported; the bare name permits all of it"
    return Fit(certain=False, possible=True, kind="pattern", reason=reason)


def judge_url(url: object, patterns: Sequence[str]) -> Fit:
    """Compare a URL with patterns of the form `domain:HOST`."""
    written = [pattern.strip() for pattern in patterns]
    hosts = [host_pattern(text.removeprefix(DOMAIN).strip()) if text.startswith(DOMAIN) else None for text in written]
    host = host_of_url(url) if isinstance(url, str) else None
    if host is None:
        return Fit(certain=False, possible=True, kind="url", reason="it has no url with a recognisable host")
    if any(pattern is not None and fits_host(host, pattern) for pattern in hosts):
        return CERTAIN
    reason = f"'{host[:120]}' fits none of {', '.join(written)[:200]}"
    return Fit(certain=False, possible=None in hosts, kind="url", reason=reason)  # an unreadable pattern may match


def judge_name(name: object, patterns: Sequence[str]) -> Fit:
    """Compare a name with patterns. A pattern is a list of names separated by commas; `*` matches any characters."""
    names = [part.strip() for pattern in patterns for part in pattern.split(",")]
    if isinstance(name, str) and any(fits_stars(name, part) for part in names):
        return CERTAIN
    reason = f"{str(name)[:120]!r} is none of {', '.join(names)[:200]}"
    return Fit(certain=False, possible=not isinstance(name, str), kind="name", reason=reason)


def _with_values(text: str, variables: Variables) -> str:
    """Replace variables by their values, in a single pass. A variable without a value stays unchanged."""
    known = dict(variables)
    return (
        VARIABLE.sub(lambda found: known.get(found[1] or found[2], found[0]), text) if known and "$" in text else text
    )


def _placed(text: str, variables: Variables) -> str:
    """Replace variables in a path pattern that begins with one. The values are escaped; the result is absolute."""
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
    """Return the directory of a search, or None. For Glob, also return the pattern's part below that directory."""
    root = arguments.get(SEARCH_TOOLS[tool])
    root = "." if root is None else root
    pattern = arguments.get("pattern")
    if tool != "Glob" or not isinstance(root, str):
        return root, None
    if not isinstance(pattern, str) or ".." in pattern:
        return None, None  # `..` may leave the directory, even inside braces, so the directory of the search is unknown
    parts = pattern.split("/")
    fixed = next(
        (place for place, part in enumerate(parts[:-1]) if any(char in part for char in _SPECIAL)), len(parts) - 1
    )
    start = "/".join(parts[:fixed])
    if pattern.startswith("/"):
        return start or "/", "/".join(parts[fixed:])
    return (f"{root}/{start}" if start else root), "/".join(parts[fixed:])
