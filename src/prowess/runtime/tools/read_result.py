"""The result of `skills.read`."""

from __future__ import annotations

from binascii import a2b_base64

from msgspec import Struct
from msgspec.structs import asdict

from prowess.runtime.activation.load_result import Notice  # noqa: TC001 -- needed at run time: msgspec decodes it


class SectionTitle(Struct, frozen=True, kw_only=True):
    """A section of a Markdown file; `level` is 1 to 6, 0 for the text before the first heading."""

    slug: str
    title: str
    level: int


class ReadResult(Struct, frozen=True, kw_only=True):
    """Result of `skills.read`: a slice of a file, or the description of a script without its text.

    `skill` is None for an artifact, `path` is relative, and `digest` covers the whole file. `size` is that of the whole
    file in bytes. A slice has `encoding`, `text` or (with encoding `binary`) `data_base64`, `offset`, `truncated`, and
    `next_offset`, the start of the next slice or None at the end. With `section`, `sections` is the outline of the
    file. For a script, `encoding` is None, `interpreter` is None if the script cannot be run, and `usage` explains how
    to run it.
    """

    skill: str | None
    path: str
    encoding: str | None = None
    media_type: str | None = None
    text: str = ""
    data_base64: str = ""
    sections: tuple[SectionTitle, ...] = ()
    offset: int = 0
    size: int
    truncated: bool = False
    next_offset: int | None = None
    digest: str
    interpreter: str | None = None
    usage: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def data(self) -> bytes:
        """The bytes of a slice with encoding `binary`."""
        return a2b_base64(self.data_base64)

    def as_dict(self) -> dict[str, object]:
        """Return the tool's JSON. Fields that do not apply to the slice or script are left out."""
        fields = asdict(self)
        fields["sections"] = [asdict(section) for section in self.sections]
        fields["notices"] = [notice.as_dict() for notice in self.notices]
        return {name: fields[name] for name in _WIRE[self.encoding] if name not in _IF_ANY or fields[name]}


_SLICE = "skill path encoding media_type {} sections offset size truncated next_offset digest notices"
_WIRE = {
    "text": _SLICE.format("text").split(),
    "binary": _SLICE.format("data_base64").split(),
    None: ["skill", "path", "size", "digest", "interpreter", "usage", "notices"],
}
_IF_ANY = ("sections", "notices")
