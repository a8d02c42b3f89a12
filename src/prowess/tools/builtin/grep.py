"""Grep: search the contents of workspace files for a regular expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct, field

from prowess._internal.text.canonical_json import sha256_of
from prowess.errors import DigestChangedError, UnsafePathError
from prowess.tools.builtin.file_walk import FileWalk, Found, walk
from prowess.tools.builtin.glob import parse_pattern
from prowess.tools.builtin.pattern_process import PatternProcess
from prowess.tools.builtin.text import lines_of
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.spec import ToolSpec, object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess._internal.files.workspace_root import WorkspaceRoot
    from prowess.tools.builtin.workspace import LoadedDirectory, Place, Workspace

MAX_SECONDS = 10.0
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_CHARACTERS = 100_000  # of one result
MAX_LINE = 500
DEFAULT_HEAD = 250
MAX_HEAD = 10_000
MAX_CONTEXT = 50
_SNIFFED = 8192

_CONTEXT = {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT}

SPEC = ToolSpec(
    name="Grep",
    title="Search in files",
    description=(
        "Search files for a regular expression (Python syntax), the most recently changed files first. output_mode: "
        "files_with_matches (paths, the default), content (matching lines), count (matching lines per file). "
        "Hidden files are searched; links, binary files and version control directories are left out."
    ),
    input_schema=object_schema(
        "pattern",
        pattern={"type": "string", "minLength": 1, "maxLength": 2000, "description": "The regular expression."},
        path={"type": "string", "default": ".", "description": "A file or directory to search in."},
        glob={"type": "string", "description": "Only files that match, such as '*.py' or 'src/**/*.{ts,tsx}'."},
        output_mode={
            "type": "string",
            "enum": ["files_with_matches", "content", "count"],
            "default": "files_with_matches",
        },
        **{
            "-i": {"type": "boolean", "default": False, "description": "Ignore case."},
            "-n": {"type": "boolean", "default": True, "description": "Show line numbers, in content mode."},
            "-A": {**_CONTEXT, "description": "Lines to show after each match."},
            "-B": {**_CONTEXT, "description": "Lines to show before each match."},
            "-C": {**_CONTEXT, "description": "Lines to show before and after each match."},
        },
        head_limit={
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_HEAD,
            "default": DEFAULT_HEAD,
            "description": "Maximum number of lines or files.",
        },
        multiline={
            "type": "boolean",
            "default": False,
            "description": "Let a match span lines; '.' matches line ends.",
        },
    ),
    read_only=True,
    idempotent=True,
)


class _Match(Struct, frozen=True, kw_only=True):
    path: str
    lines: list[str]
    spans: list[tuple[int, int]]

    @property
    def numbers(self) -> set[int]:
        return {number for first, last in self.spans for number in range(first, last + 1)}


class _Tally(Struct):
    """Counts of the files that a search skipped, for the notices of its result."""

    too_large: int = 0
    unreadable: int = 0
    notices: list[str] = field(default_factory=list)


class Grep(WorkspaceTool):
    """Reads files by file descriptors and runs the pattern in a process that can be killed."""

    spec = SPEC
    abandoned = True  # a cancelled search ends at its deadline, so no caller has to wait for it

    def __init__(self, workspace: Workspace, *, seconds: float = MAX_SECONDS) -> None:
        super().__init__(workspace)
        self._seconds = seconds

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return paths, lines or counts.

        Raises:
            InvalidArgumentsError: `pattern` or `glob` is invalid.
            ExecTimeoutError: the pattern took too long.
            NoSuchFileError, OutsideWorkspaceError, AccessRefusedError, LimitExceededError: see each.
        """
        place = self._workspace.place(cast("str", arguments["path"]))
        mode, head = cast("str", arguments["output_mode"]), cast("int", arguments["head_limit"])
        tally = _Tally()
        with (
            self._workspace.opened(place) as root,
            PatternProcess(
                cast("str", arguments["pattern"]),
                ignore_case=cast("bool", arguments["-i"]),
                multiline=cast("bool", arguments["multiline"]),
                seconds=self._seconds,
            ) as process,
        ):
            matches = self._matches(root, place, cast("str", arguments.get("glob", "**/*")), process, tally)
            if mode == "content":
                result = _content(matches, arguments, head)
            elif mode == "count":
                result = _counts(matches, head)
            else:
                found = [match.path for match, _ in zip(matches, range(head + 1), strict=False)]
                result = {"files": found[:head], "count": len(found[:head]), "truncated": len(found) > head}
        if tally.too_large:
            tally.notices.append(f"{tally.too_large} files over {MAX_FILE_BYTES} bytes were not searched")
        if tally.unreadable:
            tally.notices.append(f"{tally.unreadable} files could not be read")
        return result | ({"notices": tally.notices} if tally.notices else {})

    def _matches(
        self, root: WorkspaceRoot, place: Place, glob: str, process: PatternProcess, tally: _Tally
    ) -> Iterator[_Match]:
        outcome = _files(root, place)
        if outcome.stopped is not None:
            tally.notices.append(outcome.stopped)
        keep = _filter(glob, len(place.parts))
        for found in outcome.files:
            if not keep(found.parts) or not place.shows(found.parts) or self._workspace.is_script(root, found.parts):
                continue
            if found.size > MAX_FILE_BYTES:
                tally.too_large += 1
                continue
            try:
                with root.open("/".join(found.parts), allow_hard_links=True) as file:
                    data = file.read(MAX_FILE_BYTES)
            except (OSError, UnsafePathError):
                tally.unreadable += 1
                continue
            if place.skill is not None and not _is_loaded(place.skill, "/".join(found.parts), data):
                tally.unreadable += 1
                continue
            if b"\0" in data[:_SNIFFED]:
                continue
            if spans := process.search(data):
                text = data.decode("utf-8", "replace")
                yield _Match(path=place.below(found.parts), lines=lines_of(text), spans=spans)


def _is_loaded(skill: LoadedDirectory, path: str, data: bytes) -> bool:
    """Whether a file of a skill is unchanged since the skill was loaded."""
    try:
        skill.require_loaded(path, sha256_of(data))
    except DigestChangedError:
        return False
    return True


def _files(root: WorkspaceRoot, place: Place) -> FileWalk:
    try:
        return walk(root, place.parts)
    except NotADirectoryError:
        facts = root.look(place.parts)
        if facts is None:
            raise FileNotFoundError(place.path) from None
        return FileWalk([Found(parts=place.parts, size=facts.st_size, mtime_ns=facts.st_mtime_ns)])


def _filter(glob: str, depth: int) -> Callable[[tuple[str, ...]], bool]:
    """Return the filter for `glob`. A pattern without a slash matches file names; a leading `!` negates it."""
    text = glob.removeprefix("!")
    pattern = parse_pattern(text if "/" in text.strip("/") else f"**/{text.strip('/')}")
    return lambda parts: pattern.matches(parts[depth:] or parts[-1:]) is (text == glob)


def _counts(matches: Iterator[_Match], head: int) -> dict[str, object]:
    counts: dict[str, int] = {}
    for match in matches:
        if len(counts) == head:
            return {"counts": counts, "total": sum(counts.values()), "truncated": True}
        counts[match.path] = len(match.numbers)
    return {"counts": counts, "total": sum(counts.values()), "truncated": False}


def _content(matches: Iterator[_Match], arguments: dict[str, object], head: int) -> dict[str, object]:
    around = cast("int", arguments.get("-C", 0))
    before, after = cast("int", arguments.get("-B", around)), cast("int", arguments.get("-A", around))
    numbered = cast("bool", arguments["-n"])
    shown: list[str] = []
    room, truncated = MAX_CHARACTERS, False
    for match in matches:
        for line in _shown(match, before, after, numbered=numbered):
            if len(shown) == head or room < len(line):
                truncated = True
                break
            shown.append(line)
            room -= len(line) + 1
        if truncated:
            break
    return {"content": "\n".join(shown) + "\n" * bool(shown), "lines": len(shown), "truncated": truncated}


def _shown(match: _Match, before: int, after: int, *, numbered: bool) -> Iterator[str]:
    """Yield the lines of one file as `path:number:text` (`-` in context lines); `--` separates groups of lines."""
    hits = match.numbers
    last = -1
    wanted = sorted({near for hit in hits for near in range(max(0, hit - before), hit + after + 1)})
    for number in wanted:
        if number >= len(match.lines):
            break
        if last >= 0 and number > last + 1 and (before or after):
            yield "--"
        last = number
        sign = ":" if number in hits else "-"
        text = match.lines[number].removesuffix("\r")
        text = text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]} ... ({len(text)} characters)"
        yield f"{match.path}{sign}{number + 1}{sign}{text}" if numbered else f"{match.path}{sign}{text}"
