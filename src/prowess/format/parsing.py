"""Parse bytes into a `SkillDocument`: decode, find the fences, read the YAML, repair invalid values.

This is the only parser of SKILL.md. The parser raises no error for any content. Faults are in `document.diagnostics`,
and the document contains everything that could be read.

Fences mark the start and end of the front matter; the body follows. A fence is a whole line of exactly three hyphens,
optionally followed by spaces or tabs. `----`, `---x`, `...` and three hyphens inside a value are text. Line breaks are
already LF at this point.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.yaml_reader import MAX_DEPTH, MAX_FAULTS, MAX_NODES, Mapping, Scalar, Sequence, read_yaml
from prowess.diagnostics import Diagnostic, Edit, Fix, FixSafety, Location
from prowess.format.document import Field, SkillDocument, key_text
from prowess.format.limits import FIELDS, MAX_FRONT_MATTER_BYTES
from prowess.format.rules.entry_fixes import remove_second
from prowess.format.rules.table import RULES
from prowess.format.source.source_text import Decoded, SourceText, TextFault, decode

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node, YamlFault

_SHOWN_KEY = 60


def parse_document(source: bytes | str, *, path: str | None = None) -> SkillDocument:
    r"""Parse the bytes or text of a SKILL.md; `path` is the path in reports.

        document = parse_document("---\nname: pdf\ndescription: one --- two\n---\nBody\n")
        document.text_of("description")  # 'one --- two'

    No content raises an error: faults are in `document.diagnostics`.
    """
    return parse_source(source, path=path)


def parse_source(
    source: bytes | str,
    *,
    path: str | None = None,
    directory: str | None = None,
    found: tuple[Diagnostic, ...] = (),
) -> SkillDocument:
    """Parse a SKILL.md as `parse_document` does, for a file of a skill's `directory`.

    `found` are faults of the file itself; they come first in the document's diagnostics.
    """
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    decoded = decode(data)
    return _Parsing(decoded, path).document(
        digest=f"sha256:{hashlib.sha256(data).hexdigest()}", directory=directory, found=found
    )


def finding(
    rule: str, message: str, location: Location, *, detail: str | None = None, fix: Fix | None = None
) -> Diagnostic:
    """Return a diagnostic of a rule in the table, at its default severity."""
    return RULES[rule].found(message, location, detail=detail, fix=fix)


class _Parsing:
    def __init__(self, decoded: Decoded, path: str | None) -> None:
        self._decoded = decoded
        self._origin = SourceText(path=path, text=decoded.text, bom=decoded.bom)
        self._found: list[Diagnostic] = [self._byte_fault(fault) for fault in decoded.faults]

    def document(self, *, digest: str, directory: str | None, found: tuple[Diagnostic, ...]) -> SkillDocument:
        text = self._origin.text
        fences = find_fences(text)
        front_matter = None
        fields: tuple[Field, ...] | None = None
        if fences.opening is None:
            self._missing()
        elif fences.end is None:
            self._unclosed(fences.opening, fences.start)
        else:
            front_matter = text[fences.start : fences.end]
            if fences.opening:
                self._not_first(fences.opening, blank=fences.blank_before)
            self._doubtful_fences(fences)
            fields = self._fields(front_matter, fences)
        front_matter_line, _ = self._origin.position(fences.start)
        body_line, _ = self._origin.position(fences.body)
        return SkillDocument(
            origin=self._origin,
            front_matter=front_matter,
            front_matter_line=front_matter_line,
            body=text[fences.body :],
            body_offset=fences.body,
            body_line=body_line,
            fields=fields or (),
            complete=fields is not None,
            diagnostics=(*found, *self._found),
            document_digest=digest,
            directory=directory,
        )

    def _byte_fault(self, fault: TextFault) -> Diagnostic:
        location = self._origin.location(fault.offset)
        fix = None
        if fault.rule == "encoding.bom":
            edit = Edit(line=1, column=1, end_line=1, end_column=2, text="")
            fix = Fix(safety=FixSafety.SAFE, title="remove the byte-order mark", edits=(edit,))
            location = Location(path=self._origin.path, end_line=1, end_column=2)
        return finding(fault.rule, fault.message, location, detail=fault.detail, fix=fix)

    def _report(self, rule: str, message: str, start: int, end: int | None = None, fix: Fix | None = None) -> None:
        self._found.append(finding(rule, message, self._origin.location(start, end), fix=fix))

    def _missing(self) -> None:
        first = self._origin.text.partition("\n")[0]
        message = "the file does not start with frontmatter; its first line must be exactly ---"
        if first.startswith("---"):
            message = "the first line is not a fence: it must be exactly three hyphens"
        self._report("frontmatter.missing", message, 0, len(first))

    def _unclosed(self, opening: int, start: int) -> None:
        if self._decoded.cut or self._too_large(self._origin.text[start:]):
            self._size(opening)
        if not self._decoded.cut:
            message = "the frontmatter that opens here is never closed; end it with a line of exactly ---"
            self._report("frontmatter.unclosed", message, opening, opening + 3)

    def _not_first(self, opening: int, *, blank: bool) -> None:
        fix = None
        if blank:
            edit = self._origin.edit(0, opening, "")
            fix = Fix(safety=FixSafety.SAFE, title="remove the blank lines before it", edits=(edit,))
        message = "the frontmatter must start on the first line of the file"
        self._report("frontmatter.notFirst", message, opening, opening + 3, fix)

    def _doubtful_fences(self, fences: Fences) -> None:
        """Report fences that other readers may not see, and line ends that only some readers accept."""
        text, opening, end = self._origin.text, fences.opening or 0, fences.end or 0
        for fence in (opening, end):
            line = text[fence : (text.find("\n", fence) + 1 or len(text) + 1) - 1]
            if blanks := len(line) - len(_HYPHENS):
                start = fence + len(_HYPHENS)
                edit = self._origin.edit(start, start + blanks, "")
                fix = Fix(safety=FixSafety.SAFE, title="remove the spaces", edits=(edit,))
                message = "spaces follow this fence, so some readers do not see it; remove them"
                self._report("frontmatter.fence", message, start, start + blanks, fix)
        at, known = self._decoded.lone_return, "a carriage return without a line feed"
        if at is None or at >= fences.body:
            found = _LINE_END_FOR_SOME.search(text, opening, fences.body)
            at, known = (None, "") if found is None else (found.start(), f"U+{ord(found[0]):04X}")
        if at is not None and at < fences.body:
            message = f"{known} ends a line here for some readers and not for others; end lines with LF"
            self._report("frontmatter.fence", message, at)

    @staticmethod
    def _too_large(front_matter: str) -> bool:
        # A code point has at most four bytes, so only long texts need an exact count.
        if len(front_matter) * 4 <= MAX_FRONT_MATTER_BYTES:
            return False
        return len(front_matter.encode("utf-8", "replace")) > MAX_FRONT_MATTER_BYTES

    def _size(self, opening: int) -> None:
        message = f"the frontmatter is larger than {MAX_FRONT_MATTER_BYTES} bytes; move detail into the body"
        self._report("frontmatter.size", message, opening, opening + 3)

    def _fields(self, front_matter: str, fences: Fences) -> tuple[Field, ...] | None:
        if self._too_large(front_matter):
            self._size(fences.opening or 0)
            return None
        reading = read_yaml(front_matter, base=fences.start)
        mended: frozenset[int] = frozenset()
        if any(fault.construct == "syntax" for fault in reading.faults):
            # Imported here, not at the top: most documents need no repair.
            from prowess.format.source.repair import mend

            mending = mend(front_matter, fences.start, reading)
            reading, broken = mending.reading, mending.broken
            for repair in mending.repairs:
                self._syntax(repair.fault, repair.start, repair.end, repair.fix(self._origin))
            if broken is not None:
                self._syntax(broken.fault, broken.start, broken.end)
                return None
            mended = frozenset(repair.start for repair in mending.repairs)
        for fault in reading.faults:
            if fault.construct != "syntax":
                self._syntax(fault, fault.offset, self._end_of(fault))
        if reading.root is not None:
            return self._top_level(reading.root, mended)
        return None if reading.faults else ()

    def _end_of(self, fault: YamlFault) -> int:
        """Return the end of a fault: one character for a control character, otherwise the end of the line."""
        if fault.construct == "control character":
            return fault.offset + 1
        line_end = self._origin.text.find("\n", fault.offset)
        return len(self._origin.text) if line_end < 0 else line_end

    def _syntax(self, fault: YamlFault, start: int, end: int, fix: Fix | None = None) -> None:
        message = describe(fault, self._origin.text)
        location = self._origin.location(start, end)
        self._found.append(finding("frontmatter.syntax", message, location, detail=fault.construct, fix=fix))

    def _top_level(self, root: Node, mended: frozenset[int]) -> tuple[Field, ...] | None:
        if not isinstance(root, Mapping):
            kind = "a text" if isinstance(root, Scalar) else "a list"
            message = f"the frontmatter is {kind}, it must be a mapping such as name: my-skill"
            self._report("frontmatter.notMapping", message, root.start, root.end)
            return None
        origin = self._origin
        fields = []
        seen: dict[str, Node] = {}
        for key, value in root.entries:
            name = key_text(key, origin)
            fields.append(Field(key=name, key_node=key, value=value, origin=origin, repaired=value.start in mended))
            if name in seen:
                self._duplicate("frontmatter.duplicateKey", name, seen[name], key, value)
            seen.setdefault(name, value)
            if name == "metadata":
                self._duplicates_inside(value)
        return tuple(fields)

    def _duplicates_inside(self, node: Node) -> None:
        if isinstance(node, Mapping):
            seen: dict[str, Node] = {}
            for key, value in node.entries:
                name = key_text(key, self._origin)
                if name in seen:
                    self._duplicate("metadata.duplicateKey", name, seen[name], key, value)
                seen.setdefault(name, value)
                self._duplicates_inside(value)
        elif isinstance(node, Sequence):
            for item in node.items:
                self._duplicates_inside(item)

    def _duplicate(self, rule: str, name: str, first: Node, key: Node, value: Node) -> None:
        if len(self._found) < MAX_FAULTS:
            shown = name if len(name) <= _SHOWN_KEY else f"{name[:_SHOWN_KEY]}..."
            message = f"the key {shown!r} is written twice; the first one counts"
            self._report(rule, message, key.start, key.end, remove_second(self._origin, first, key, value))


_HAZARDS = {
    "alias": "an alias (*name) is not allowed here; write the value out, or quote it if it is text",
    "anchor": "an anchor (&name) is not allowed here; quote the value if it is text",
    "tag": "a tag (!name) is not allowed here; quote the value if it is text",
    "merge key": "a merge key (<<) is not allowed here; write the entries out",
    "document": "a second YAML document starts here; the frontmatter is one document",
    "depth": f"this is nested deeper than {MAX_DEPTH} levels",
    "nodes": f"the frontmatter holds more than {MAX_NODES} values",
}

_SYNTAX = (  # Phrase of libyaml -> our message. The first phrase that the error contains decides.
    ("mapping values are not allowed", 'a value with ": " must be quoted'),
    ("block sequence entries are not allowed", 'a value that starts with "- " must be quoted'),
    ("mapping keys are not allowed", 'a value that starts with "? " must be quoted'),
    ("found unexpected end of stream", "the quote that opens here is never closed"),
    ("found unexpected document indicator", "the quote that opens here is never closed"),
    ("expected ',' or", "the bracket that opens here is never closed"),
    ("unknown escape character", "a backslash in double quotes must be doubled"),
    ("did not find expected hexdecimal number", "a backslash in double quotes must be doubled"),
    ("did not find expected comment or line break", "a value that starts with > or | must be quoted"),
    ("could not find expected ':'", 'this line is neither "key: value" nor indented as part of the value above'),
    ("found a tab character", "a tab indents this line; indent with spaces"),
    ("did not find expected alphabetic or numeric character", "a value that starts with * or & must be quoted"),
    ("did not find expected key", "text follows the end of this value; quote the whole value"),
    ("did not find expected <document start>", "this does not belong to any entry; the frontmatter is one mapping"),
)


def describe(fault: YamlFault, text: str) -> str:
    """Return one sentence that describes `fault`. Offsets of the fault count in `text`."""
    if fault.construct == "control character":
        return f"control character U+{ord(text[fault.offset]):04X} is not allowed; remove it"
    if fault.construct in _HAZARDS:
        return _HAZARDS[fault.construct]
    if "cannot start any token" in fault.problem:
        char = text[fault.offset : fault.offset + 1]
        if char == "\t":
            return "a tab indents this line; indent with spaces"
        return f"a value that starts with {char!r} must be quoted"
    return next((ours for phrase, ours in _SYNTAX if phrase in fault.problem), f"this is not YAML: {fault.problem}")


_MOST_CANDIDATES = 20_000  # lines that begin like a fence; more do not fit into 64 KiB
_HYPHENS = "---"
_LINE_END_FOR_SOME = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029](?=---)")
_FENCE = re.compile(r"---[ \t]*(?=\n|\Z)")
_BLANKS = re.compile(r"[ \t\n]*")
_FIELD = rf"(?m)^(?:{'|'.join(FIELDS)})[ \t]*:"


class Fences(Struct, frozen=True, kw_only=True):
    """Offsets of the front matter in the text.

    `opening` is `None` if there is no front matter; `end` is `None` if it is never closed. The front matter is
    `text[start:end]`, the body is `text[body:]`. `blank_before` is true if there are only blank lines before the
    opening fence; removing them then repairs the file.
    """

    opening: int | None
    start: int = 0
    end: int | None = None
    body: int = 0
    blank_before: bool = False


def find_fences(text: str) -> Fences:
    """Find the front matter. If a field follows the opening fence, comments and blank lines before it are skipped."""
    if (first := _FENCE.match(text)) is not None:
        return _closed(text, 0, first.end())
    start, blank = _skip_prelude(text)
    if start and (late := _FENCE.match(text, start)) is not None:
        fences = _closed(text, start, late.end())
        if fences.end is not None and re.compile(_FIELD).search(text, fences.start, fences.end):
            return replace(fences, blank_before=blank)
    return Fences(opening=None)


def _closed(text: str, opening: int, fence_end: int) -> Fences:
    start = min(fence_end + 1, len(text))
    closing = _closing_fence(text, fence_end) if start > fence_end else None
    if closing is None:
        return Fences(opening=opening, start=start, end=None, body=len(text))
    begin, end = closing
    return Fences(opening=opening, start=start, end=begin, body=min(end + 1, len(text)))


def _closing_fence(text: str, line_end: int) -> tuple[int, int] | None:
    """Return start and end of the first fence after `line_end`, the end of a line."""
    at = line_end
    for _ in range(_MOST_CANDIDATES):
        at = text.find("\n---", at)
        if at < 0:
            return None
        if (fence := _FENCE.match(text, at + 1)) is not None:
            return fence.span()
        at += 1
    return None


def _skip_prelude(text: str) -> tuple[int, bool]:
    """Return the offset of the first line that is neither blank nor an HTML comment, and whether all were blank."""
    at, blank = _past_blanks(text, 0), True
    while text.startswith("<!--", at) and at < MAX_FRONT_MATTER_BYTES:
        blank = False
        close = text.find("-->", at + len("<!--"))
        if close < 0:
            return 0, False
        at = _past_blanks(text, close + len("-->"))
    return (at if at and text[at - 1] == "\n" else 0), blank


def _past_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()
