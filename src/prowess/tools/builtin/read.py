"""Read: return a file of the workspace as lines of text, as an image, or as bytes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from prowess._internal.text.canonical_json import sha256_of
from prowess.errors import LimitExceededError
from prowess.execution.artifacts import media_type
from prowess.tools.builtin.text import ENCODINGS, decode, image_type, line_ends, lines_of
from prowess.tools.builtin.workspace import AccessRefusedError, WorkspaceTool
from prowess.tools.spec import ToolSpec, object_schema

if TYPE_CHECKING:
    from prowess._internal.files.contained import OpenedFile
    from prowess.tools.builtin.workspace import Place

DEFAULT_LINES = 2000
DEFAULT_BYTES = 65_536
MAX_CHARACTERS = 100_000  # of one result
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_IMAGE_BYTES = 3_750_000  # 5 MB as base64, the limit of providers

SPEC = ToolSpec(
    name="Read",
    title="Read a file",
    description=(
        "Read a file of the workspace. Returns 2000 lines of text by default; set offset (first line, from 1) and "
        "limit for a part. PNG, JPEG, GIF and WebP are returned as images. With encoding 'binary', any file is "
        "returned as base64; offset and limit count bytes."
    ),
    input_schema=object_schema(
        "file_path",
        file_path={"type": "string", "description": "Relative to the workspace, or absolute and inside it."},
        offset={"type": "integer", "minimum": 0, "description": "First line, from 1; first byte, from 0, if binary."},
        limit={"type": "integer", "minimum": 1, "description": "Number of lines, or bytes if binary."},
        encoding={"type": "string", "enum": [*ENCODINGS, "binary"], "default": "utf-8"},
    ),
    read_only=True,
    idempotent=True,
    aliases=("read_file",),
)


class Read(WorkspaceTool):
    """Opens the file relative to the workspace's file descriptor and returns the requested part."""

    spec = SPEC

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the requested part, and facts about the whole file.

        Raises:
            NoSuchFileError, WrongKindError, OutsideWorkspaceError, AccessRefusedError, NoTextError: see each.
            DigestChangedError: the file belongs to a loaded skill and has changed since.
            LimitExceededError: the file or image is too large to be read.
        """
        place = self._workspace.place(cast("str", arguments["file_path"]))
        encoding = cast("str", arguments["encoding"])
        linked = place.skill is None or place.skill.allows_hard_links()
        with self._workspace.opened(place) as root, root.open(place.path, allow_hard_links=linked) as file:
            if self._workspace.is_script(root, place.parts):
                raise AccessRefusedError(place.shown, "scripts of a skill are run with skills_run_script, not read")
            if place.skill is not None:
                place.skill.require_loaded(place.path, sha256_of(_whole(file, place)))
            head: dict[str, object] = {"file_path": place.shown, "size_bytes": file.size}
            if encoding == "binary":
                return head | _bytes(
                    file.read(_limit(arguments, DEFAULT_BYTES), _offset(arguments)), arguments, file.size
                )
            kind = image_type(file.read(16)) if "offset" not in arguments else None
            most = MAX_FILE_BYTES if kind is None else MAX_IMAGE_BYTES
            data = file.read(most + 1)
        if len(data) > most:
            advice = "read a part with encoding 'binary', or use Grep" if kind is None else "make it smaller"
            raise LimitExceededError(f"bytes of {place.shown}", most, head["size_bytes"], advice)  # type: ignore[arg-type]  # an integer
        if kind is not None:
            encoded = base64.b64encode(data).decode("ascii")
            return head | {"encoding": "base64", "media_type": kind, "data_base64": encoded}
        return head | _lines(decode(data, place.shown, encoding), arguments, encoding)


def _whole(file: OpenedFile, place: Place) -> bytes:
    """Return all bytes of a skill's file, to compare them with the file that was loaded."""
    if file.size > MAX_FILE_BYTES:
        advice = "a script of the skill can process it"
        raise LimitExceededError(f"bytes of {place.shown}", MAX_FILE_BYTES, file.size, advice)
    return file.read(MAX_FILE_BYTES + 1)


def _lines(text: str, arguments: dict[str, object], encoding: str) -> dict[str, object]:
    ends = line_ends(text)
    text = text.removeprefix("\ufeff")  # a byte order mark is not part of the text
    if ends == "crlf":
        text = text.replace("\r\n", "\n")
    lines = lines_of(text)
    first = max(_offset(arguments), 1) - 1
    wanted = lines[first : first + _limit(arguments, DEFAULT_LINES)]
    kept: list[str] = []
    room = MAX_CHARACTERS
    for line in wanted:
        if len(line) >= room and kept:
            break
        kept.append(line[:room])
        room -= len(line) + 1
    end = first + len(kept)
    cut = bool(kept) and len(kept[-1]) < len(wanted[len(kept) - 1])
    content = "\n".join(kept)
    if kept and not cut and (end < len(lines) or text.endswith("\n")):
        content += "\n"
    result: dict[str, object] = {
        "content": content,
        "encoding": encoding,
        "start_line": first + 1,
        "lines": len(kept),
        "total_lines": len(lines),
        "truncated": end < len(lines) or cut,
        "next_offset": end + 1 if end < len(lines) else None,
    }
    if ends != "lf":
        result["line_ends"] = ends
    if cut:
        result["notice"] = f"line {end} is longer than {MAX_CHARACTERS} characters and was cut; use encoding 'binary'"
    elif wanted == [] and lines:
        result["notice"] = f"the file ends with line {len(lines)}"
    return result


def _bytes(part: bytes, arguments: dict[str, object], size: int) -> dict[str, object]:
    offset = _offset(arguments)
    end = offset + len(part)
    return {
        "encoding": "base64",
        "media_type": media_type(cast("str", arguments["file_path"])),
        "data_base64": base64.b64encode(part).decode("ascii"),
        "offset": offset,
        "truncated": end < size,
        "next_offset": end if end < size else None,
    }


def _offset(arguments: dict[str, object]) -> int:
    return cast("int", arguments.get("offset", 0))


def _limit(arguments: dict[str, object], default: int) -> int:
    # Limit every result to a size that a model can take, whatever it requests.
    return min(cast("int", arguments.get("limit", default)), MAX_CHARACTERS)
