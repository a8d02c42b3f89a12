"""Edit: replace exact text in a file of the workspace."""

from __future__ import annotations

from typing import cast

from prowess.errors import InvalidArgumentsError, LimitExceededError
from prowess.tools.builtin.text import decode, line_ends, lines_of, to_crlf
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.spec import ToolSpec, object_schema

MAX_FILE_BYTES = 32 * 1024 * 1024
_SHOWN_LINES = 10

SPEC = ToolSpec(
    name="Edit",
    title="Edit a file",
    description=(
        "Replace old_string with new_string in a text file of the workspace. old_string must match exactly, white "
        "space too, and only once. With replace_all, every match is replaced. The file's line ends are kept. To "
        "create a file, use Write."
    ),
    input_schema=object_schema(
        "file_path old_string new_string",
        file_path={"type": "string", "description": "Relative to the workspace, or absolute and inside it."},
        old_string={"type": "string", "description": "The text to replace, with enough context to be unique."},
        new_string={"type": "string", "description": "The replacement; may be empty."},
        replace_all={"type": "boolean", "default": False},
    ),
    destructive=True,
)


class Edit(WorkspaceTool):
    """Reads, replaces and writes as one step. If the file changes in between, it is not written."""

    spec = SPEC

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the number and the lines of the replacements.

        Raises:
            InvalidArgumentsError: the text is not in the file, or more than once; the message names similar lines.
            NoSuchFileError, WrongKindError, OutsideWorkspaceError, AccessRefusedError, NoTextError, ChangedError,
            LimitExceededError: see each; the file is unchanged.
        """
        place = self._workspace.place_to_write(cast("str", arguments["file_path"]))
        old, new = cast("str", arguments["old_string"]), cast("str", arguments["new_string"])
        if old == new:
            raise InvalidArgumentsError(("old_string and new_string are the same, so there is nothing to change",))
        if not old:
            raise InvalidArgumentsError(("old_string is empty; use Write to make a file or to replace all of it",))
        with self._workspace.writing, self._workspace.opened(place) as root:
            with root.open(place.path, allow_hard_links=True) as file:
                data, facts = file.read(MAX_FILE_BYTES + 1), file.stat
            if len(data) > MAX_FILE_BYTES:
                raise LimitExceededError(f"bytes of {place.shown}", MAX_FILE_BYTES, facts.st_size, "edit it with Bash")
            text = decode(data, place.shown)
            if old not in text and "\r\n" in text:
                old, new = to_crlf(old), to_crlf(new)  # a model writes LF; the file keeps its CR LF
            places = _occurrences(text, old, place.shown, every=cast("bool", arguments["replace_all"]))
            edited = text.replace(old, new).encode()
            root.replace(place.path, edited, expected=facts)
        return {
            "file_path": place.shown,
            "replacements": len(places),
            "lines": places[:_SHOWN_LINES],
            "size_bytes": len(edited),
            "line_ends": line_ends(text),
        }


def _occurrences(text: str, old: str, path: str, *, every: bool) -> list[int]:
    """Return the lines where `old` begins. Raise InvalidArgumentsError for none, or several without `every`."""
    places: list[int] = []
    line, seen, start = 1, 0, text.find(old)
    while start >= 0:
        line += text.count("\n", seen, start)
        places.append(line)
        seen, start = start, text.find(old, start + len(old))
    if not places:
        raise InvalidArgumentsError((f"old_string is not in {path}{_hint(text, old)}",))
    if len(places) > 1 and not every:
        shown = ", ".join(map(str, places[:_SHOWN_LINES])) + (" ..." if len(places) > _SHOWN_LINES else "")
        advice = "add lines around it until it is unique, or set replace_all"
        raise InvalidArgumentsError((f"old_string is in {path} {len(places)} times, in lines {shown}; {advice}",))
    return places


def _hint(text: str, old: str) -> str:
    """Return advice that ends the error message.

    It names the line of text that differs from `old` only in white space, else the line that equals the first line of
    `old`, else no line.
    """
    wanted = [" ".join(line.split()) for line in lines_of(old.replace("\r\n", "\n"))]
    have = [" ".join(line.split()) for line in lines_of(text)]
    for index in range(len(have) - len(wanted) + 1):
        if have[index : index + len(wanted)] == wanted:
            return f"; line {index + 1} differs from it in white space only: read it again and copy it exactly"
    if wanted[0] and wanted[0] in have:
        return f"; its first line is line {have.index(wanted[0]) + 1}, but what follows differs: read the file again"
    return "; read the file again and copy the text exactly"
