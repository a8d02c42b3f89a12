"""Write: create or replace a whole file in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.tools.builtin.text import line_ends, to_crlf
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.spec import ToolSpec, object_schema

if TYPE_CHECKING:
    from prowess._internal.files.workspace_root import WorkspaceRoot
    from prowess.tools.builtin.workspace import Place

MAX_LOOKED_AT = 32 * 1024 * 1024  # bytes of the old file that are read to detect its line ends

SPEC = ToolSpec(
    name="Write",
    title="Write a file",
    description=(
        "Write a whole text file of the workspace, in UTF-8. Missing directories are created. An existing file is "
        "replaced, and keeps its mode. If it had only CR LF line ends, it keeps them. For a part, use Edit."
    ),
    input_schema=object_schema(
        "file_path content",
        file_path={"type": "string", "description": "Relative to the workspace, or absolute and inside it."},
        content={"type": "string", "description": "The complete new text."},
    ),
    destructive=True,
    idempotent=True,
)


class Write(WorkspaceTool):
    """Replaces the file atomically: a reader sees either the old or the new text."""

    spec = SPEC

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return facts about the written file. After an error, the file is unchanged.

        Raise OutsideWorkspaceError, AccessRefusedError, WrongKindError or NoSuchFileError.
        """
        place = self._workspace.place_to_write(cast("str", arguments["file_path"]))
        text = cast("str", arguments["content"])
        with self._workspace.writing, self._workspace.opened(place) as root:
            ends = _old_line_ends(root, place)
            if ends == "crlf" and "\r\n" not in text:
                text = to_crlf(text)
            data = text.encode()
            created = root.replace(place.path, data)
        return {"file_path": place.shown, "created": created, "size_bytes": len(data), "line_ends": line_ends(text)}


def _old_line_ends(root: WorkspaceRoot, place: Place) -> str:
    if root.look(place.parts) is None:
        return "lf"
    with root.open(place.path, allow_hard_links=True) as file:
        return line_ends(file.read(MAX_LOOKED_AT).decode("utf-8", "replace"))  # only the line ends matter here
