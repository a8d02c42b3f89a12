"""Format a SKILL.md. Values, order, comments and quotes stay as they are.

The front matter is written by a YAML library that keeps comments and quotes (extra `prowess[fmt]`). Mappings are
indented by two spaces, list items by two spaces and a dash, and one space follows a colon. Line breaks become LF, a
byte-order mark is removed, and the file ends with one line break. The rest of the body is not changed.

The result is checked with the parser of Prowess. If a value, a quote or a comment is different, or if a second
formatting would give another result, the file is left as it was.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.yaml_reader import Mapping, Scalar
from prowess.format.parsing import parse_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.format.document import SkillDocument

_COMMENT = re.compile(r"(?:^|[ \t])(#[^\n]*?)[ \t]*$", re.MULTILINE)
_NEVER = 1 << 30  # columns; a width at which no line is wrapped


class Formatted(Struct, frozen=True, kw_only=True):
    """`data` has the new bytes. If the file was not formatted, they are the old bytes and `reason` is set."""

    data: bytes
    reason: str | None = None


def format_source(data: bytes) -> Formatted:
    """Return the bytes of a SKILL.md, formatted. Raises ImportError without the library that keeps comments."""
    document = parse_document(data)
    # A byte-order mark and spaces after a fence do not count as faults, because formatting repairs them.
    faults = [
        found
        for found in document.diagnostics
        if found.rule != "encoding.bom" and (found.rule != "frontmatter.fence" or found.fix is None)
    ]
    if faults:
        where = f"line {faults[0].location.line}"
        return Formatted(
            data=data,
            reason=f"it cannot be formatted because of a fault in {where} ({faults[0].rule}); see `prowess check`",
        )
    if not document.complete:
        return Formatted(data=data, reason="its frontmatter cannot be read")
    new = _laid_out(document)
    if new is None or not _is_same(document, parse_document(new)) or _laid_out(parse_document(new)) != new:
        return Formatted(data=data, reason="formatting it would change values or comments")
    return Formatted(data=new.encode())


def _laid_out(document: SkillDocument) -> str | None:
    """Return the formatted text; `None` if the library cannot read the front matter."""
    front = document.front_matter or ""
    if document.fields:
        try:
            front = _round_trip(front)
        except ImportError:
            raise
        except Exception:  # noqa: BLE001 -- on any error of the YAML library the file stays unchanged
            return None
    body = document.body.rstrip("\n")
    return f"---\n{front}---\n{body}\n" if body else f"---\n{front}---\n"


def _round_trip(front: str) -> str:
    # Imported here, not at the top: it is an optional package, and only this function needs it.
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.resolver import VersionedResolver

    class TextResolver(VersionedResolver):
        """Resolves every plain scalar as text, as the parser of Prowess does: `1.0`, `on` and dates are kept."""

        def resolve(self, kind: object, value: object, implicit: object) -> object:
            if kind is ScalarNode and value != "":
                implicit = (False, True)
            return super().resolve(kind, value, implicit)

    yaml = YAML(typ="rt", pure=True)
    yaml.Resolver = TextResolver
    yaml.preserve_quotes = True
    yaml.width = _NEVER
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump(yaml.load(front), out)
    return out.getvalue()


def _is_same(before: SkillDocument, after: SkillDocument) -> bool:
    if after.diagnostics or not after.complete or before.body.rstrip("\n") != after.body.rstrip("\n"):
        return False
    return list(_written(before)) == list(_written(after)) and _comments(before) == _comments(after)


def _written(document: SkillDocument) -> Iterator[tuple[str, object]]:
    """Yield, in order, each scalar with its style, and the style and length of each collection."""
    waiting: list[Node] = [node for field in document.fields for node in (field.key_node, field.value)][::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar):
            yield node.style, node.text
            continue
        children = [child for entry in node.entries for child in entry] if isinstance(node, Mapping) else node.items
        yield "flow" if node.flow else "block", len(children)
        waiting += reversed(children)


def _comments(document: SkillDocument) -> list[str]:
    return _COMMENT.findall(document.front_matter or "")
