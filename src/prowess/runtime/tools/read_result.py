"""The result of `skills.read`."""

from __future__ import annotations

from binascii import a2b_base64

from msgspec import Struct
from msgspec.structs import asdict

from prowess.runtime.activation.load_result import Notice  # noqa: TC001 -- msgspec decodes it


class SectionTitle(Struct, frozen=True, kw_only=True):
    """A section of a Markdown file; `level` is 1 to 6, 0 for the text before the first heading."""

    slug: str
    title: str
    level: int


class ReadResult(Struct, frozen=True, kw_only=True):
    """What `skills.read` returns: a slice of a file, or of a script what can be told without its text.

    `skill` is None for an artifact, `path` is relative, `digest` covers the whole file. A slice has `encoding`, `text`
    or (with encoding `binary`) `data_base64`, `offset` and `size` of the whole file in bytes, `truncated`, and
    `next_offset`, where to go on, None at the end; with `section`, `sections` is the outline. For a script, `encoding`
    is None, and `interpreter` (None: it cannot be run) and `usage` tell how to run it.
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
        """Return the JSON of the tool: of a slice and of a script only what each has."""
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
