"""A fast reader of front matter without unusual YAML.

Most SKILL.md files contain one-line texts, block texts, flat lists and maps of these. For such files, reading lines
gives the result of the full parser twenty times faster and without loading a YAML library. For any other file
`read_plain_skill` returns `None`, and the caller uses the full parser. A differential test checks that this module
either returns `None` or agrees with the full parser on every field, and on whether there is anything to report.

This module reads only front matter with LF line ends, printable characters and no repeated key. Texts may be plain,
single-quoted or double-quoted on one line; top-level texts may also be plain and continued on indented lines, or
literal and folded blocks. Lists contain one-line texts and are written as `- item` lines or as `[a, b]` on one line.
Maps may be nested. Comments must be on lines of their own. A misspelt form of a field that restricts a skill is left to
the full parser, which knows how to read it.
"""

from __future__ import annotations

from typing import TypeAlias

from prowess.format.limits import (
    FIELDS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    RESTRICTING_FIELDS,
)

PlainValue: TypeAlias = "str | list[str] | dict[str, PlainValue]"
PlainFields: TypeAlias = dict[str, PlainValue]

_KNOWN = frozenset(FIELDS)
# Restricting fields by their letters. The full parser also reads other spellings of these fields.
_RESTRICTING = {field.replace("-", ""): field for field in RESTRICTING_FIELDS}
_HEAD = b"---\n"
_CLOSE = b"\n---"
# Bytes allowed in an ASCII front matter: line breaks and printable characters. Others need the full parser.
_PRINTABLE = b"\n" + bytes(range(0x20, 0x7F))
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`~")
# Characters that can end a plain text inside brackets, or that readers treat differently there.
_SPECIAL_IN_FLOW = frozenset("[]{}?'\"#\\")
# Block indicator -> the joint between two lines of the block, and the end of the block.
_BLOCKS = {"|": ("\n", "\n"), "|-": ("\n", ""), ">": (" ", "\n"), ">-": (" ", "")}
_CUT_CHARACTER = 3  # a truncated head can end inside a UTF-8 sequence: at most three bytes of it
_LONGEST_KEY = 100  # characters; YAML limits a key to 1024
_DEEPEST = 8  # nested lists and maps below a top-level key; the full parser limits them to 20


class _HandOver(Exception):  # noqa: N818 -- a signal to the caller inside this module, not an error
    """This front matter needs the full parser."""


class PlainSkill:
    """The front matter of a plain skill that can be loaded.

    `source` is the text between the fences, and `name` the skill's name without surrounding blanks. `has_findings` is
    true if the full parser reports warnings about the fields, and false if it reports nothing about them.
    """

    __slots__ = ("has_findings", "name", "source")

    def __init__(self, source: bytes, name: str, *, has_findings: bool) -> None:
        self.source = source
        self.name = name
        self.has_findings = has_findings


def read_plain_skill(head: bytes, directory_name: str, *, complete: bool) -> PlainSkill | None:
    """Return the front matter of a plain skill that the profile `lenient` loads; `None` if the full parser is needed.

    Args:
        head: the first bytes of SKILL.md, or all of them.
        directory_name: the name of the directory that contains it.
        complete: whether `head` is the whole file.
    """
    source = _between_fences(head, complete=complete)
    if source is None:
        return None
    fields = plain_properties(source)
    if fields is None:
        return None
    try:
        has_findings = _has_findings(fields, directory_name)
    except _HandOver:
        return None
    return PlainSkill(source, str(fields["name"]).strip(), has_findings=has_findings)


def plain_properties(source: bytes) -> PlainFields | None:
    """Return the fields of a plain front matter, in the order written; `None` if the full parser is needed."""
    if source.isascii():
        if source.translate(None, _PRINTABLE):
            return None
        text = source.decode("ascii")
    else:
        try:
            text = source.decode()
        except UnicodeDecodeError:
            return None
        if not text.replace("\n", "").isprintable():
            return None
    try:
        return _fields(text.split("\n"))
    except _HandOver:
        return None


def plain_description(source: bytes) -> str:
    """Return the description in a front matter that `read_plain_skill` returned. Reads no other field."""
    key = b"description:"
    at = 0 if source.startswith(key) else source.index(b"\n" + key) + 1
    end = source.find(b"\n", at)
    value = source[at + len(key) : end if end >= 0 else None].decode().strip(" ")
    if value and value not in _BLOCKS and source[end + 1 : end + 2] != b" ":  # most are on one line
        return str(_one_line(value))
    lines = source[at:].decode().split("\n")
    return str(_value(value, lines, 1)[0])


def _between_fences(head: bytes, *, complete: bool) -> bytes | None:
    if not head.startswith(_HEAD) or b"\0" in head:
        return None
    end = head.find(_CLOSE, len(_HEAD))
    if end < 0:
        return None
    after = head[end + len(_CLOSE) : end + len(_CLOSE) + 1]
    if after != b"\n" and (after or not complete):
        return None
    if not head.isascii():
        try:
            head.decode()
        except UnicodeDecodeError as fault:
            if complete or fault.end != len(head) or fault.start < len(head) - _CUT_CHARACTER:
                return None
    return head[len(_HEAD) : end]


def _fields(lines: list[str]) -> PlainFields:
    found: PlainFields = {}
    count = len(lines)
    at = 0
    while at < count:
        line = lines[at]
        at += 1
        if not line or line[0] == "#":
            continue
        key, colon, rest = line.partition(":")
        if key in found or not colon or (rest and rest[0] != " ") or not (key in _KNOWN or _is_other_field(key)):
            raise _HandOver
        found[key], at = _value(rest.strip(" "), lines, at)
    return found


def _value(value: str, lines: list[str], at: int) -> tuple[PlainValue, int]:
    """Return the value of a top-level field, and the index of the line after it. `value` is its part beside the key."""
    if not value:
        return _nested(lines, at, 0, 0)
    if value in _BLOCKS:
        return _block(lines, at, *_BLOCKS[value])
    if at < len(lines) and lines[at][:1] == " ":
        return _continued(value, lines, at)
    return _one_line(value), at


def _is_other_field(key: str) -> bool:
    """Whether `key` is a plain key that the full parser does not read as another field."""
    if not (key.isascii() and _is_plain_key(key)):
        return False
    word = key.replace("-", "").replace("_", "").replace(".", "").lower()
    return _RESTRICTING.get(word, key) == key


def _is_plain_key(key: str) -> bool:
    if len(key) > _LONGEST_KEY:
        return False
    if key.isalnum():
        return True
    return key[:1] not in _INDICATORS and key.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _one_line(value: str) -> str | list[str]:
    """Return the value of a scalar or a flow list on one line."""
    return _flow_list(value) if value[0] == "[" else _scalar(value)


def _nested(lines: list[str], at: int, parent: int, depth: int) -> tuple[PlainValue, int]:
    """Read the block list or map from line `at` on, the value of a key that is indented by `parent` spaces.

    Return the value and the index of the line after it. The caller hands over if that line is not the next key.
    """
    at = _past_comments(lines, at)
    line = lines[at] if at < len(lines) else ""
    indent = len(line) - len(line.lstrip(" "))
    if line[indent : indent + 2] == "- " and indent >= parent:
        return _block_list(lines, at, indent)
    if indent > parent and depth < _DEEPEST:
        return _map(lines, at, indent, depth)
    raise _HandOver  # an empty value


def _past_comments(lines: list[str], at: int) -> int:
    """Return the index of the first line from `at` on that is neither a comment nor blank."""
    while at < len(lines) and lines[at].lstrip(" ")[:1] in {"", "#"}:
        at += 1
    return at


def _block_list(lines: list[str], at: int, indent: int) -> tuple[list[str], int]:
    """Read a list of one-line texts. Each line begins with `indent` spaces and a hyphen."""
    found: list[str] = []
    start = " " * indent + "- "
    while at < len(lines) and lines[at].startswith(start):
        found.append(_scalar(lines[at][indent + 2 :].strip(" ")))
        at = _past_comments(lines, at + 1)
    return found, at


def _map(lines: list[str], at: int, indent: int, depth: int) -> tuple[dict[str, PlainValue], int]:
    """Read a map of one-line texts, flat lists and maps. Each of its keys is indented by `indent` spaces."""
    found: dict[str, PlainValue] = {}
    while at < len(lines):
        line = lines[at]
        bare = line.lstrip(" ")
        here = len(line) - len(bare)
        if not bare or bare[0] == "#":
            at += 1
            continue
        if here < indent:
            break
        key, colon, rest = bare.partition(":")
        if here > indent or key in found or not colon or (rest and rest[0] != " ") or not _is_plain_key(key):
            raise _HandOver
        value = rest.strip(" ")
        if value:
            found[key] = _one_line(value)
            at += 1
        else:
            found[key], at = _nested(lines, at + 1, indent, depth + 1)
    return found, at


def _flow_list(value: str) -> list[str]:
    """Read a list of texts in brackets, on one line."""
    if value[-1] != "]":
        raise _HandOver
    inner = value[1:-1].strip(" ")
    found: list[str] = []
    while inner:
        if (quote := inner[0]) in {"'", '"'}:
            text, closed, inner = inner[1:].partition(quote)
            inner = inner.lstrip(" ")
            if not closed or "\\" in text or inner[:1] not in {"", ","}:
                raise _HandOver
        else:
            text = inner.partition(",")[0]
            inner = inner[len(text) :]
            text = text.rstrip(" ")
            _require_plain(text)
            if not _SPECIAL_IN_FLOW.isdisjoint(text):
                raise _HandOver
        if inner == ",":
            raise _HandOver
        inner = inner[1:].lstrip(" ")
        found.append(text)
    return found


def _scalar(value: str) -> str:
    """Return the value of a one-line scalar."""
    first = value[:1]
    if first == '"':
        inner = value[1:-1]
        if len(value) < 2 or value[-1] != '"':  # noqa: PLR2004 -- an opening and a closing quote
            raise _HandOver
        if "\\" in inner or '"' in inner:
            bare = inner.replace('\\"', "")
            if "\\" in bare or '"' in bare:
                raise _HandOver
            return inner.replace('\\"', '"')
        return inner
    if first == "'":
        inner = value[1:-1]
        if len(value) < 2 or value[-1] != "'":  # noqa: PLR2004 -- an opening and a closing quote
            raise _HandOver
        if "'" in inner:
            if "'" in inner.replace("''", ""):
                raise _HandOver
            return inner.replace("''", "'")
        return inner
    _require_plain(value)
    return value


def _require_plain(value: str) -> None:
    """Raise `_HandOver` unless `value` is one line of a plain scalar."""
    if not value or value[0] in _INDICATORS or ": " in value or " #" in value or value[-1] == ":":
        raise _HandOver


def _continued(value: str, lines: list[str], at: int) -> tuple[str, int]:
    """Fold the indented lines that continue a plain scalar."""
    _require_plain(value)  # a quoted text over several lines is rare; the full parser reads it
    parts = [value]
    while at < len(lines) and lines[at][:1] == " ":
        part = lines[at].strip(" ")
        _require_plain(part)
        parts.append(part)
        at += 1
    return " ".join(parts), at


def _block(lines: list[str], at: int, joint: str, end: str) -> tuple[str, int]:
    """Read the block of a field that begins at line `at`. Return its text and the index of the line after it.

    The block belongs to a key at column 0, so every indented line is part of it. An empty block needs the full parser.
    """
    first = lines[at] if at < len(lines) else ""
    indent = len(first) - len(first.lstrip(" "))
    if not indent or indent == len(first):
        raise _HandOver
    prefix = " " * indent
    text = first[indent:]
    gap = 0
    at += 1
    while at < len(lines):
        line = lines[at]
        if not line:
            gap += 1
        elif line.startswith(prefix):
            part = line[indent:]
            if not part.strip(" ") or (joint == " " and part[0] == " "):
                raise _HandOver  # the full parser reads lines of spaces, and deeper lines of a folded block
            text += ("\n" * gap if gap and joint == " " else joint + "\n" * gap) + part
            gap = 0
        elif line[0] == " ":
            raise _HandOver
        else:
            break
        at += 1
    return text + end, at


def _has_findings(fields: PlainFields, directory_name: str) -> bool:
    """Whether the full parser would report warnings about these fields. Hands over if it might report an error.

    Only a skill that certainly has a finding, or certainly none, is not handed over.
    """
    name, description = fields.get("name"), fields.get("description")
    if not (isinstance(name, str) and isinstance(description, str) and directory_name.isascii()):
        raise _HandOver
    name, length = name.strip(), len(description.strip())
    if not name or not name.isascii() or not length:
        raise _HandOver
    license_text = fields.get("license", "-")
    if isinstance(license_text, str) and not license_text.strip():
        raise _HandOver  # the full parser treats the field as absent
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        raise _HandOver
    return (
        name != directory_name
        or not _is_name(name)
        or length > MAX_DESCRIPTION_LENGTH
        or not isinstance(license_text, str)
        or not _is_compatibility(fields.get("compatibility", "-"))
        or not all(isinstance(value, str) for value in metadata.values())
        or not _KNOWN.issuperset(fields)
        or _has_tool_findings(fields.get("allowed-tools"))
    )


def _is_compatibility(value: PlainValue) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_COMPATIBILITY_LENGTH


def _is_name(text: str) -> bool:
    return (
        len(text) <= MAX_NAME_LENGTH
        and text.isascii()
        and text.replace("-", "").isalnum()
        and text == text.lower()
        and text[0] != "-"
        and text[-1] != "-"
        and "--" not in text
    )


def _has_tool_findings(value: PlainValue | None) -> bool:
    """Whether the full parser would report a warning about `allowed-tools`. Hands over in doubt."""
    if value is None or (isinstance(value, str) and _is_tool_list(value)):
        return False
    if isinstance(value, str) and ("," not in value or "(" in value or ")" in value):
        raise _HandOver
    return True  # not one text, or a comma between names


def _is_tool_list(text: str) -> bool:
    """Whether `text` has the form `Name Name(pattern) ...` with single spaces between."""
    if not text:
        return False
    left = text
    while left:
        names, bracket, left = left.partition("(")
        for name in names.split(" "):
            if not (name.isascii() and name.isidentifier()):
                return False
        if bracket:
            pattern, closed, left = left.partition(")")
            if not closed or not pattern.strip() or "(" in pattern or left[:1] not in {"", " "}:
                return False
            left = left[1:]
    return True
