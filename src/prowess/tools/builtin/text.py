"""Text of files: encodings, line ends, and detection of files that are not text."""

from __future__ import annotations

from prowess.tools.builtin.workspace import NoTextError

ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252", "ascii")
_SNIFFED = 8192
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_IMAGES = (  # image formats that models can view, by their first bytes
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(data: bytes) -> str | None:
    """Return the media type of an image that models can view, from its first bytes; None for other data."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if data.startswith(magic)), None)


def decode(data: bytes, path: str, encoding: str = "utf-8") -> str:
    """Decode the bytes of a file. Raise NoTextError with the encoding that may be right."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = None
    if text is None or (encoding != "utf-16" and b"\0" in data[:_SNIFFED]):
        utf16 = data.startswith(_UTF16_MARKS)
        raise NoTextError(path, encoding, f"read it with encoding {'utf-16' if utf16 else 'binary'!r}")
    return text


def line_ends(text: str) -> str:
    """Return `crlf` if every line ends with CR LF, `mixed` if some lines do, else `lf`."""
    both = text.count("\r\n")
    if not both:
        return "lf"
    return "crlf" if both == text.count("\n") else "mixed"


def to_crlf(text: str) -> str:
    """Convert every line end to CR LF."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def lines_of(text: str) -> list[str]:
    """Return the lines without their ends. An empty text after the last line end is not a line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
