"""Glob: find files of the workspace by the pattern of their paths."""

from __future__ import annotations

from typing import cast

from prowess.tools.builtin.faults import WrongKindError
from prowess.tools.builtin.file_walk import parse_pattern, walk
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.spec import ToolSpec, object_schema

MAX_FILES = 200

SPEC = ToolSpec(
    name="Glob",
    title="Find files",
    description=(
        "Find files by a pattern such as '**/*.py' or 'src/{a,b}/*.ts', the most recently changed first, 200 at most. "
        "Hidden files are found; links and version control directories are left out."
    ),
    input_schema=object_schema(
        "pattern",
        pattern={"type": "string", "description": "* and ? within a name, ** for directories, [a-z], {a,b}."},
        path={"type": "string", "default": ".", "description": "The directory to look in."},
    ),
    read_only=True,
    idempotent=True,
)


class Glob(WorkspaceTool):
    """Walks by descriptors and enters only directories that a match can lie in."""

    spec = SPEC

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the paths.

        Raises:
            InvalidArgumentsError: the pattern cannot be one.
            NoSuchFileError, WrongKindError, OutsideWorkspaceError, AccessRefusedError: of `path`.
        """
        pattern, path = cast("str", arguments["pattern"]), cast("str", arguments["path"])
        if pattern.startswith("/"):
            # Models that were given absolute paths give absolute patterns; the directory before the first star is one.
            fixed = pattern[: min((pattern.find(sign) for sign in "*?[{" if sign in pattern), default=len(pattern))]
            path, pattern = fixed.rpartition("/")[0] or "/", pattern[fixed.rfind("/") + 1 :]
        place = self._workspace.place(path)
        parsed = parse_pattern(pattern)
        with self._workspace.opened(place) as root:
            try:
                outcome = walk(root, place.parts, parsed)
            except NotADirectoryError:
                raise WrongKindError(place.shown, "file", "give a directory as path") from None
        result: dict[str, object] = {
            "files": [place.below(found.parts) for found in outcome.files[:MAX_FILES]],
            "count": len(outcome.files),
            "truncated": len(outcome.files) > MAX_FILES or outcome.stopped is not None,
        }
        if outcome.stopped is not None:
            result["notice"] = outcome.stopped
        return result
