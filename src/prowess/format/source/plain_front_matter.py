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

from prowess.format.limits import FIELDS, RESTRICTING_FIELDS
from prowess.format.source.plain_findings import has_plain_findings

PlainValue: TypeAlias = "str | list[str] | dict[str, PlainValue]"
PlainFields: TypeAlias = dict[str, PlainValue]

_KNOWN = frozenset(FIELDS)
# Restricting fields by their letters. The full parser also reads other spellings of these fields.
_RESTRICTING = {field.replace("-", ""): field for field in RESTRICTING_FIELDS}
_HEAD = b"---\n"
_CLOSE = b"\n---"
_DESCRIPTION = b"\ndescription:"
# For `bytes.translate`: replaces each byte but line breaks and printable ASCII characters. If it changes a front matter
# in ASCII, the full parser is needed.
_PRINTABLE = b"?" * 10 + b"\n" + b"?" * 21 + bytes(range(0x20, 0x7F)) + b"?" * 129
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

    def __init__(
        self,
        source: bytes,
        name: str,
        has_findings: bool,  # noqa: FBT001 -- made once per skill; keywords take twice as long
    ) -> None:
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
    has_findings = has_plain_findings(fields, directory_name)
    if has_findings is None:
        return None
    return PlainSkill(source, str(fields["name"]).strip(), has_findings)


def plain_properties(source: bytes) -> PlainFields | None:
    """Return the fields of a plain front matter, in the order written; `None` if the full parser is needed."""
    if source.isascii():
        if source.translate(_PRINTABLE) != source:
            return None
        text = source.decode()
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
    # If the field is on the first line, `find` returns -1, which is where the line break before it would be.
    at = source.find(_DESCRIPTION) + len(_DESCRIPTION)
    end = source.find(b"\n", at)
    if end < 0:
        return str(_one_line(source[at:].decode().strip(" ")))
    value = source[at:end].decode().strip(" ")
    if value and value[0] not in "|>" and source[end + 1 : end + 2] != b" ":  # most are on one line
        return str(_one_line(value))
    return str(_value(value, source[end + 1 :].decode().split("\n"), 0)[0])


def _between_fences(head: bytes, *, complete: bool) -> bytes | None:
    if not head.startswith(_HEAD) or 0 in head:
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
        key, colon, value = line.partition(": ")
        if not (colon and key in _KNOWN):  # most fields are known and have a value beside the key
            if not line or line[0] == "#":
                continue
            key, colon, value = line.partition(":")
            if not colon or (value and value[0] != " ") or not (key in _KNOWN or _is_other_field(key)):
                raise _HandOver
        if key in found:
            raise _HandOver
        value = value.strip(" ")
        if (at == count or lines[at][:1] != " ") and _is_plain(value):  # most values are one line of plain text
            found[key] = value
        else:
            found[key], at = _value(value, lines, at)
    return found


def _value(value: str, lines: list[str], at: int) -> tuple[PlainValue, int]:
    """Return the value of a top-level field, and the index of the line after it. `value` is its part beside the key."""
    if not value:
        return _nested(lines, at, 0, 0)
    if value[0] in "|>":
        if value not in _BLOCKS:
            raise _HandOver
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
    if key.isalnum():
        return len(key) <= _LONGEST_KEY
    return (
        len(key) <= _LONGEST_KEY
        and key[:1] not in _INDICATORS
        and key.replace("-", "").replace("_", "").replace(".", "").isalnum()
    )


def _one_line(value: str) -> str | list[str]:
    """Return the value of a scalar or a flow list on one line."""
    return _flow_list(value) if value[0] == "[" else _scalar(value)


def _is_plain(value: str) -> bool:
    """Whether `value` is one line of a plain scalar."""
    if not value or value[0] in _INDICATORS:
        return False
    if ":" not in value and "#" not in value:  # Looking for one character is ten times as fast as for two.
        return True
    return ": " not in value and value[-1] != ":" and " #" not in value


def _nested(lines: list[str], at: int, parent: int, depth: int) -> tuple[PlainValue, int]:
    """Read the block list or map from line `at` on, the value of a key that is indented by `parent` spaces.

    Return the value and the index of the line after it. The caller hands over if that line is not the next key.
    """
    while at < len(lines):
        line = lines[at]
        bare = line.lstrip(" ")
        if bare and bare[0] != "#":
            indent = len(line) - len(bare)
            if bare[:2] == "- " and indent >= parent:
                return _block_list(lines, at, indent)
            if indent > parent and depth < _DEEPEST:
                return _map(lines, at, indent, depth)
            break
        at += 1
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
    count = len(lines)
    while at < count:
        line = lines[at]
        bare = line.lstrip(" ")
        here = len(line) - len(bare)
        if here < indent and bare and bare[0] != "#":
            break
        at += 1
        key, colon, value = bare.partition(":")
        if here != indent or not colon or (value and value[0] != " ") or not _is_plain_key(key):
            if not bare or bare[0] == "#":
                continue
            raise _HandOver
        if key in found:
            raise _HandOver
        value = value.strip(" ")
        if _is_plain(value):
            found[key] = value
        elif value:
            found[key] = _one_line(value)
        else:
            found[key], at = _nested(lines, at, indent, depth + 1)
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
    quote = value[:1]
    if quote not in {"'", '"'}:
        if not _is_plain(value):
            raise _HandOver
        return value
    inner = value[1:-1]
    if value[-1] != quote or len(value) == 1:
        raise _HandOver
    return _unescaped(inner, quote) if quote in inner or "\\" in inner else inner


def _unescaped(inner: str, quote: str) -> str:
    """Replace the escaped quotes in the text between quotes. Hands over other escapes, and quotes without escape."""
    escaped = '\\"' if quote == '"' else "''"
    bare = inner.replace(escaped, "")
    if quote in bare or (quote == '"' and "\\" in bare):
        raise _HandOver
    return inner.replace(escaped, quote)


def _require_plain(value: str) -> None:
    """Raise `_HandOver` unless `value` is one line of a plain scalar."""
    if not _is_plain(value):
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
    prefix = first[:indent]
    parts = [first[indent:]]
    for line in lines[at + 1 :]:
        if line:
            if line[:indent] != prefix:
                if line[0] == " ":
                    raise _HandOver
                break
            part = line[indent:]
            if (not part or part[0] == " ") and (joint == " " or not part.strip(" ")):
                raise _HandOver  # the full parser reads lines of spaces, and deeper lines of a folded block
            parts.append(part)
        else:
            parts.append("")
    at += len(parts)
    while not parts[-1]:
        parts.pop()
    return (joint.join(parts) if joint == "\n" or "" not in parts else _folded(parts)) + end, at


def _folded(parts: list[str]) -> str:
    """Join lines of a folded block: by a space, or by as many line breaks as there are empty lines between."""
    text = ""
    joint = ""
    for part in parts:
        if part:
            text += joint + part
            joint = " "
        else:
            joint = joint.strip(" ") + "\n"
    return text
