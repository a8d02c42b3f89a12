"""A loaded skill: plain frozen data. Reading an attribute does no input or output.

`Frontmatter` has the fields in the form that a program needs. All scalars are strings. Two attributes hold data that
does not fit this form: `metadata_raw` has nested values as they were written, and `extra` has unknown fields.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.yaml_reader import Mapping as YamlMapping
from prowess._internal.yaml_reader import Scalar, Sequence
from prowess.format.document import key_text, plain
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.near_fields import restricts, tool_field, with_restricting_fields
from prowess.format.limits import FIELDS
from prowess.format.name import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.files.tree_digest import FileRecord, TreeManifest
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import Field, SkillDocument
    from prowess.format.fields.allowed_tools import ToolToken
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.format.manifest.manifest import Sidecar

ResourceKind = Literal["script", "reference", "asset", "other"]
_KINDS: dict[str, ResourceKind] = {"scripts": "script", "references": "reference", "assets": "asset"}


class Frontmatter(Struct, frozen=True, kw_only=True):
    """The fields of a skill.

    `license` and `compatibility` are `None` if absent. `allowed_tools` is `None` if the key is absent, which means no
    restriction; it is empty if the key permits nothing or cannot be parsed. A misspelt `allowed-tools` key counts too:
    if the restriction is written several times, only tokens that appear in every one of them remain. `metadata` maps
    keys to strings; a nested value is its source text. `metadata_raw` and `extra` contain strings, lists and
    dictionaries. `raw` is the content of `properties()`.
    """

    name: str
    description: str
    license: str | None
    compatibility: str | None
    allowed_tools: tuple[ToolToken, ...] | None
    metadata: Mapping[str, str]
    metadata_raw: Mapping[str, object]
    extra: Mapping[str, object]
    raw: Mapping[str, object]

    @property
    def extended(self) -> ExtendedFields:
        """The extended fields that a runtime obeys, typed. They are read from `raw` at each access."""
        # Imported here, not at the top: listing skills must not load types for fields that few skills have.
        from prowess.format.fields.extended_fields import extended_fields

        return extended_fields(self.raw)

    def properties(self) -> dict[str, object]:
        """Return the fields under their own keys, in the order written, as a host passes them on.

        `allowed-tools` is the string or list as written. Optional fields without a value are left out; unknown fields
        are included. Every scalar is a string.
        """
        return dict(self.raw)


class Resource(Struct, frozen=True, kw_only=True):
    """A file of the skill other than SKILL.md; `path` is relative with `/`, `size` in bytes, `sha256` in hex."""

    path: str
    kind: ResourceKind
    size: int
    sha256: str
    executable: bool

    @classmethod
    def of(cls, record: FileRecord) -> Resource:
        """Return the resource for one file; its top directory determines the kind."""
        top, inside, _ = record.path.partition("/")
        return cls(
            path=record.path,
            kind=_KINDS.get(top, "other") if inside else "other",
            size=record.size,
            sha256=record.sha256,
            executable=record.executable,
        )


class Skill(Struct, frozen=True, kw_only=True):
    """A skill as loaded by a profile. `read_skill` creates it.

    `location` is the absolute path of SKILL.md, `root_dir` that of the skill's directory. `manifest` has the hashes of
    the skill's files. `sidecar` is the content of `skill.manifest.yaml`; it is empty if there is no such file.
    `diagnostics` are findings that did not stop the skill from loading.
    """

    frontmatter: Frontmatter
    document: SkillDocument
    root_dir: str
    location: str
    manifest: TreeManifest
    sidecar: Sidecar
    diagnostics: tuple[Diagnostic, ...]

    @property
    def name(self) -> str:
        """The name, trimmed and in NFKC; the directory's name if the skill has none."""
        return self.frontmatter.name

    @property
    def description(self) -> str:
        """The description, trimmed."""
        return self.frontmatter.description

    @property
    def body(self) -> str:
        """The instructions: everything after the closing fence."""
        return self.document.body

    @property
    def document_digest(self) -> str:
        """`sha256:<64 hex>` of the bytes of SKILL.md."""
        return self.document.document_digest

    @property
    def digest(self) -> str | None:
        """`sha256:<64 hex>` of all files; `None` if one is a link or special file, which `manifest.obstacles` names."""
        return self.manifest.digest

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Every file except SKILL.md, sorted by path."""
        own = self.location.rpartition("/")[2]
        return tuple(Resource.of(record) for record in self.manifest.files if record.path != own)


def frontmatter_of(document: SkillDocument, *, name_hint: str = "") -> Frontmatter:
    """Return the fields of a document, without validation. If there is no name and no directory, use `name_hint`."""
    description = document.field("description")
    metadata = document.field("metadata")
    name = _name(document) or normalise(document.directory_name or name_hint)
    described = "" if description is None else _as_text(description).strip()
    return Frontmatter(
        name=name,
        description=described,
        license=_optional_text(document.field("license")),
        compatibility=None if (field := document.field("compatibility")) is None else _as_text(field),
        allowed_tools=_tools([field for field in document.fields if tool_field(field.key) == "allowed-tools"]),
        metadata=MappingProxyType({} if metadata is None else _string_view(metadata)),
        metadata_raw=MappingProxyType({} if metadata is None else _entries(metadata)),
        extra=MappingProxyType({key: value for key, value in document.mapping().items() if key not in FIELDS}),
        raw=MappingProxyType(_properties(document, name, described)),
    )


def _properties(document: SkillDocument, name: str, description: str) -> dict[str, object]:
    properties: dict[str, object] = {"name": name, "description": description}
    for key, value in document.mapping().items():
        if key not in properties and not (key in {"license", "metadata"} and _is_blank(value)):
            properties[key] = value
    for key, times in Counter(field.key for field in document.fields).items():
        if times > 1 and restricts(key):
            properties[key] = None  # a restriction written twice is ambiguous; readers refuse None
    return with_restricting_fields(properties)


def _name(document: SkillDocument) -> str:
    return normalise(document.text_of("name") or "")


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _as_text(field: Field) -> str:
    """Return the text of a scalar as YAML defines it, or the source of a collection."""
    return field.source if field.text is None else field.text


def _optional_text(field: Field | None) -> str | None:
    if field is None:
        return None
    text = _as_text(field)
    return text if text.strip() else None


def _tools(fields: list[Field]) -> tuple[ToolToken, ...] | None:
    """Return the tokens that all of these fields contain, so that a misspelt field also restricts the tools."""
    lists = [_tokens(field) for field in fields]
    if not lists:
        return None
    return tuple(token for token in lists[0] if all(token in tokens for tokens in lists))


def _tokens(field: Field) -> tuple[ToolToken, ...]:
    parsed = [parse_allowed_tools(text) for text in tool_texts(field) or ()]
    if any(part.fault is not None for part in parsed):
        return ()
    return tuple(token for part in parsed for token in part.tokens)


def tool_texts(field: Field) -> list[str] | None:
    """Return the strings that contain tokens: the value itself, or the items of a list; otherwise `None`."""
    match field.value:
        case Scalar(text=text):
            return [text]
        case Sequence(items=items) if all(isinstance(item, Scalar) for item in items):
            return [item.text for item in items if isinstance(item, Scalar)]
        case _:
            return None


def _entries(field: Field) -> dict[str, object]:
    raw = plain(field.value, field.origin)
    return raw if isinstance(raw, dict) else {}


def _string_view(field: Field) -> dict[str, str]:
    view: dict[str, str] = {}
    if isinstance(field.value, YamlMapping):
        for key, value in field.value.entries:
            text = value.text if isinstance(value, Scalar) else field.origin.text[value.start : value.end]
            view.setdefault(key_text(key, field.origin), text)
    return view
