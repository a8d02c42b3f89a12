"""Glob: find files of the workspace by a path pattern.

Patterns are globs relative to the directory of the search. `{a,b}` matches either alternative.
"""

from __future__ import annotations

import re
from typing import cast

from prowess._internal.globs import PathGlob, path_components
from prowess.errors import InvalidArgumentsError
from prowess.tools.builtin.file_walk import walk
from prowess.tools.builtin.workspace import WorkspaceTool, WrongKindError
from prowess.tools.spec import ToolSpec, object_schema

MAX_FILES = 200
MAX_ALTERNATIVES = 64
MAX_LENGTH = 1000

SPEC = ToolSpec(
    name="Glob",
    title="Find files",
    description=(
        "Find files by a pattern such as '**/*.py' or 'src/{a,b}/*.ts', the most recently changed first, at most 200. "
        "Hidden files are found; links and version control directories are left out."
    ),
    input_schema=object_schema(
        "pattern",
        pattern={"type": "string", "description": "* and ? within a name, ** for directories, [a-z], {a,b}."},
        path={"type": "string", "default": ".", "description": "The directory to search."},
    ),
    read_only=True,
    idempotent=True,
)


class Glob(WorkspaceTool):
    """Walks by file descriptors and enters only directories that can contain a match."""

    spec = SPEC

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the matching paths. Raise InvalidArgumentsError for an invalid pattern.

        Raise NoSuchFileError, WrongKindError, OutsideWorkspaceError or AccessRefusedError if `path` cannot be searched.
        """
        pattern, path = cast("str", arguments["pattern"]), cast("str", arguments["path"])
        if pattern.startswith("/"):
            # Models that know absolute paths write absolute patterns. The directory before the first special character
            # becomes the path of the search.
            fixed = pattern[: min((pattern.find(sign) for sign in "*?[{" if sign in pattern), default=len(pattern))]
            path, pattern = fixed.rpartition("/")[0] or "/", pattern[fixed.rfind("/") + 1 :]
        place = self._workspace.place(path)
        parsed = parse_pattern(pattern)
        with self._workspace.opened(place) as root:
            try:
                outcome = walk(root, place.parts, parsed)
            except NotADirectoryError:
                raise WrongKindError(place.shown, "file", "give a directory as path") from None
        files = [place.below(found.parts) for found in outcome.files if place.shows(found.parts)]
        result: dict[str, object] = {
            "files": files[:MAX_FILES],
            "count": len(files),
            "truncated": len(files) > MAX_FILES or outcome.stopped is not None,
        }
        if outcome.stopped is not None:
            result["notice"] = outcome.stopped
        return result


def parse_pattern(text: str) -> PathGlob:
    """Parse a pattern from a model. `*` also matches names that begin with a dot.

    Raise InvalidArgumentsError if the pattern is empty, too long, contains `..`, or expands to too many patterns.
    """
    if not text.strip("/") or len(text) > MAX_LENGTH or "\0" in text:
        raise InvalidArgumentsError((f"pattern must have 1 to {MAX_LENGTH} characters, such as '**/*.py'",))
    alternatives = _without_braces(text)
    if any(".." in path_components(plain) for plain in alternatives):
        raise InvalidArgumentsError(("pattern must not contain '..'; give the directory as path",))
    return PathGlob.parse(*alternatives)


def _without_braces(text: str) -> list[str]:
    """Expand braces such as `{a,b}` into plain patterns, innermost braces first."""
    done: list[str] = []
    pending = [text]
    while pending:
        if len(done) + len(pending) > MAX_ALTERNATIVES:
            raise InvalidArgumentsError(
                (f"pattern expands to more than {MAX_ALTERNATIVES} patterns; use fewer braces",)
            )
        current = pending.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if match is None:
            done.append(current)
        else:
            pending += [current[: match.start()] + each + current[match.end() :] for each in match[1].split(",")]
    return done
