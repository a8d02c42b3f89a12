"""A fast path for front matter without unusual YAML.

Most SKILL.md files contain only the six known fields: one-line texts, block texts and a flat metadata map. For such
files, reading lines gives the result of the full parser twenty times faster and without loading a YAML library. For any
other file `read_plain_skill` returns `None`, and the caller uses the full parser. A differential test checks that this
module either returns `None` or agrees with the full parser, which must also report no fault.

This module reads only front matter with LF line ends, printable characters, and no unknown or repeated field. Texts may
be plain, single-quoted or double-quoted on one line, plain and continued on indented lines, or literal and folded
blocks. Comments must be on lines of their own.
"""

from __future__ import annotations

from prowess.format.limits import (
    FIELDS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
)

_KNOWN = frozenset(FIELDS)
_HEAD = b"---\n"
_CLOSE = b"\n---"
# Bytes allowed in an ASCII front matter: line breaks and printable characters. Others need the full parser.
_PRINTABLE = b"\n" + bytes(range(0x20, 0x7F))
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`~")
# Block indicator -> the joint between two lines of the block, and the end of the block.
_BLOCKS = {"|": ("\n", "\n"), "|-": ("\n", ""), ">": (" ", "\n"), ">-": (" ", "")}
_CUT_CHARACTER = 3  # a truncated head can end inside a UTF-8 sequence: at most three bytes of it


class _HandOver(Exception):  # noqa: N818 -- a signal to the caller inside this module, not an error
    """This front matter needs the full parser."""


def read_plain_skill(head: bytes, directory_name: str, *, complete: bool) -> bytes | None:
    """Return the source between the fences of a plain, faultless skill; `None` if the full parser is needed.

    Args:
        head: the first bytes of SKILL.md, or all of them.
        directory_name: the name of the directory that contains it; the `name` field must equal it.
        complete: whether `head` is the whole file.
    """
    source = _between_fences(head, complete=complete)
    if source is None:
        return None
    fields = plain_properties(source)
    return source if fields is not None and _is_faultless(fields, directory_name) else None


def plain_properties(source: bytes) -> dict[str, str | dict[str, str]] | None:
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


def _fields(lines: list[str]) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    count = len(lines)
    at = 0
    while at < count:
        line = lines[at]
        at += 1
        if not line or line[0] == "#":
            continue
        key, colon, rest = line.partition(":")
        if key in found or key not in _KNOWN or not colon or (rest and rest[0] != " "):
            raise _HandOver
        value = rest.strip(" ")
        if key == "metadata":
            if value:
                raise _HandOver
            found[key], at = _map(lines, at)
        elif value in _BLOCKS:
            found[key], at = _block(lines, at, *_BLOCKS[value])
        else:
            text = _scalar(value)
            if at < count and lines[at][:1] == " ":
                text, at = _continued(value, lines, at)
            found[key] = text
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


def _map(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    """Read a map of one-line texts, all with the same indentation."""
    found: dict[str, str] = {}
    prefix = ""
    while at < len(lines):
        line = lines[at]
        bare = line.lstrip(" ")
        if bare[:1] == "#" or not bare:
            at += 1
            continue
        indent = line[: len(line) - len(bare)]
        if not indent:
            break
        key, _, rest = bare.partition(":")
        if (prefix and indent != prefix) or key in found or rest[:1] != " " or not _is_plain_key(key):
            raise _HandOver
        prefix = indent
        found[key] = _scalar(rest.strip(" "))
        at += 1
    if not found:
        raise _HandOver
    return found, at


def _is_plain_key(key: str) -> bool:
    if key.isalnum():
        return True
    return key[:1] not in _INDICATORS and key.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _is_faultless(fields: dict[str, str | dict[str, str]], directory_name: str) -> bool:
    """Whether the full parser would report no fault in these fields. The values of `metadata` were checked before."""
    if fields.get("name") != directory_name or not _is_name(directory_name):
        return False
    description = fields.get("description")
    if not isinstance(description, str) or not 0 < len(description.strip()) <= MAX_DESCRIPTION_LENGTH:
        return False
    if fields.get("license") == "":
        return False
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and not (
        compatibility.strip() and len(compatibility) <= MAX_COMPATIBILITY_LENGTH
    ):
        return False
    tools = fields.get("allowed-tools")
    return not isinstance(tools, str) or _is_tool_list(tools)


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
