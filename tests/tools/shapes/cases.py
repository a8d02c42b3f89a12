"""Tools and results that are shaped in the tests."""

from __future__ import annotations

from prowess.errors import SkillNotFoundError
from prowess.tools import ToolResult, ToolSpec
from prowess.tools.shapes import SHAPES

PNG = "iVBORw0KGgo="
NAMES = tuple(SHAPES)

SPECS = (
    ToolSpec(
        name="files.read",
        description="Read a file.",
        input_schema={
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "description": "Where."},
                "mode": {"type": "string", "enum": ["text", "binary"], "default": "text"},
                "limit": {"type": ["integer", "null"], "minimum": 1},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
                "ranges": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"first": {"type": "integer"}, "last": {"type": "integer"}},
                        "required": ["first"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        read_only=True,
    ),
    ToolSpec(
        name="open",
        description="Takes anything.",
        input_schema={"type": "object", "properties": {"value": {}}, "additionalProperties": False},
    ),
)

OK = ToolResult.ok({"text": "ä", "size": 2})
FAILED = ToolResult.failed(SkillNotFoundError("pfd", ("pdf",)))
IMAGE = ToolResult.ok({"file_path": "a.png", "media_type": "image/png", "data_base64": PNG, "size_bytes": 8})


def definitions(name: str, *, strict: bool = False) -> list[dict[str, object]]:
    return SHAPES[name].definitions(SPECS, strict=strict)
