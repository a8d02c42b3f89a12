"""Rules of the specification on the six fields. Each finding has its place and, if a fix is obvious, the fix.

A repaired value is validated only if the profile repairs values. Other profiles report the value as written, because
the repaired text is not yet the author's text.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import MAX_FAULTS, Mapping, Scalar, Sequence
from prowess.diagnostics import Edit, Fix, FixSafety, Location
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.near_fields import field_meant, tool_field
from prowess.format.limits import CLAUDE_CODE_FIELDS, MAX_COMPATIBILITY_LENGTH, MAX_DESCRIPTION_LENGTH
from prowess.format.name import is_portable, name_faults, normalise
from prowess.format.parsing import finding
from prowess.format.rules.entry_fixes import move_under_metadata
from prowess.format.skill import tool_texts
from prowess.format.source.scalars import double_quoted, scalar, type_beside_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import Field, SkillDocument
    from prowess.format.profiles import Profile


def field_findings(document: SkillDocument, profile: Profile) -> list[Diagnostic]:
    """Return the findings on the fields under a profile; empty if the fields could not be read."""
    if not document.complete:
        return []

    def judged(key: str) -> Field | None:
        field = document.field(key)
        return None if field is None or (field.repaired and not profile.repairs) else field

    ascii_only = profile.name_letters == "ASCII"
    findings = [*_name(document, judged("name"), ascii_only=ascii_only)]
    findings += [*_description(document, judged("description"))]
    if (license_field := judged("license")) is not None:
        findings += _text_only(license_field)
    if (compatibility := judged("compatibility")) is not None:
        findings += _compatibility(compatibility)
    if (metadata := judged("metadata")) is not None:
        findings += _metadata(metadata, written_as_text=profile.metadata_scalars == "written as text")
    if (tools := judged("allowed-tools")) is not None:
        findings += _allowed_tools(tools, as_list=profile.tools_as_list)
    if (tools := judged("disallowed-tools")) is not None:
        findings += _disallowed_tools(tools)
    findings += _unknown(document, profile.known_fields)
    return findings


def _name(document: SkillDocument, field: Field | None, *, ascii_only: bool) -> Iterator[Diagnostic]:
    if field is None:
        if document.field("name") is None:
            yield _absent(document, "name", _name_it_after_directory(document))
        return
    if field.text is None:
        yield finding("name.type", f"name is {_kind(field)}, it must be a text", field.location)
        return
    name = normalise(field.text)
    if not name:
        yield finding("name.required", "name is empty", field.location)
        return
    faults = name_faults(name, ascii_only=ascii_only)
    for fault in faults:
        yield finding(fault.rule, fault.message, _inside(field, fault.offset, name), detail=fault.kind)
    if not faults and not is_portable(name):
        message = "name uses letters beyond a-z, 0-9 and hyphens, which some clients refuse"
        yield finding("name.ascii", message, field.location)
    directory = document.directory_name
    if directory is not None and unicodedata.normalize("NFKC", directory) != name:
        message = f"name is {_short(name)!r}, but the directory is called {_short(directory)!r}"
        yield finding("name.matchesDirectory", message, field.location, fix=_rename(field, directory))


def _description(document: SkillDocument, field: Field | None) -> Iterator[Diagnostic]:
    if field is None:
        if document.field("description") is None:
            yield _absent(document, "description", None)
        return
    if field.text is None:
        yield finding("description.type", f"description is {_kind(field)}, it must be a text", field.location)
        return
    text = field.text.strip()
    if not text:
        yield finding("description.required", "description is empty", field.location)
    elif len(text) > MAX_DESCRIPTION_LENGTH:
        message = f"description has {len(text)} characters, at most {MAX_DESCRIPTION_LENGTH} are allowed"
        yield finding("description.maxLength", message, field.location)


def _text_only(field: Field) -> Iterator[Diagnostic]:
    if field.text is None:
        yield finding(f"{field.key}.type", f"{field.key} is {_kind(field)}, it must be a text", field.location)


def _compatibility(field: Field) -> Iterator[Diagnostic]:
    yield from _text_only(field)
    if field.text is None:
        return
    if not field.text.strip():
        message = "compatibility is empty; name the requirements, or remove the field"
        yield finding("compatibility.empty", message, field.location)
    elif len(field.text) > MAX_COMPATIBILITY_LENGTH:
        broken = len(field.text.rstrip("\n")) <= MAX_COMPATIBILITY_LENGTH
        hint = "; the line break at its end counts, and `>-` or `|-` removes it" if broken else ""
        message = (
            f"compatibility has {len(field.text)} characters, at most {MAX_COMPATIBILITY_LENGTH} are allowed{hint}"
        )
        yield finding("compatibility.maxLength", message, field.location)


def _metadata(field: Field, *, written_as_text: bool) -> Iterator[Diagnostic]:
    origin = field.origin
    if not isinstance(field.value, Mapping):
        if not (isinstance(field.value, Scalar) and not field.value.text.strip()):
            message = f"metadata is {_kind(field)}, it must be a mapping of keys to texts"
            yield finding("metadata.type", message, field.location)
        return
    for key, value in field.value.entries[:MAX_FAULTS]:
        if not isinstance(key, Scalar) or not (key.text or key.style):
            message = "a key of metadata must be a text"
            yield finding("metadata.keyType", message, origin.location(key.start, key.end))
        if not isinstance(value, Scalar):
            shown = _short(key.text) if isinstance(key, Scalar) else "..."
            kind = "a list" if isinstance(value, Sequence) else "a mapping"
            message = f"metadata value {shown!r} is {kind}, it must be a text"
            detail = "list" if isinstance(value, Sequence) else None
            yield finding("metadata.valueType", message, origin.location(value.start, value.end), detail=detail)
        elif written_as_text and not value.style:
            yield from _typed(field, key, value)


def _typed(field: Field, key: Node, value: Scalar) -> Iterator[Diagnostic]:
    kind = type_beside_text(value.text)
    if kind is not None:
        shown = _short(key.text) if isinstance(key, Scalar) else "..."
        message = f"metadata value {shown!r} is {kind} to many YAML readers; quote it"
        location = field.origin.location(value.start, value.end)
        yield finding("metadata.valueType", message, location, fix=_quoted(field, key, value))


def _allowed_tools(field: Field, *, as_list: bool) -> Iterator[Diagnostic]:
    texts = tool_texts(field)
    if not isinstance(field.value, Scalar) and (texts is None or not as_list):
        message = f"allowed-tools is {_kind(field)}, it must be one text with spaces between the tokens"
        yield finding("allowed-tools.type", message, field.location, fix=_joined(field, texts))
    if texts is None:
        return
    nodes = [field.value] if isinstance(field.value, Scalar) else list(getattr(field.value, "items", ()))
    for node, text in zip(nodes[:MAX_FAULTS], texts, strict=False):
        tools = parse_allowed_tools(text)
        if tools.fault is not None:
            location = _character(field, node, tools.fault.offset)
            yield finding("allowed-tools.syntax", tools.fault.message, location)
        elif tools.commas and isinstance(field.value, Scalar):
            message = "some clients do not accept commas between tools; separate the tokens by spaces"
            yield finding("allowed-tools.separator", message, field.location, fix=_joined(field, texts))


def _disallowed_tools(field: Field) -> Iterator[Diagnostic]:
    texts = tool_texts(field)
    faults = [] if texts is None else [fault.message for text in texts if (fault := parse_allowed_tools(text).fault)]
    for reason in [f"it is {_kind(field)}"] if texts is None else faults[:1]:
        yield finding("disallowed-tools.syntax", f"{reason}; a session refuses every tool", field.location)


def _quoted(field: Field, key: Node, value: Scalar) -> Fix:
    """Return a fix that puts the value in double quotes. An absent value becomes a space and empty quotes."""
    at = (value.start, value.end)
    if not value.text:
        after_colon = field.origin.text.find(":", key.end) + 1
        at = (after_colon, after_colon)
    text = f"{'' if value.text else ' '}{double_quoted(value.text)}"
    return Fix(safety=FixSafety.SAFE, title="quote it", edits=(field.origin.edit(*at, text),))


def _unknown(document: SkillDocument, known: frozenset[str]) -> Iterator[Diagnostic]:
    unknown = [field for field in document.fields if field.key not in known]
    lacking = [name for name in ("name", "description") if document.field(name) is None]
    respelled: set[str] = set()
    for field in unknown[:MAX_FAULTS]:
        meant = field_meant(field.key, lacking=lacking)
        if meant is not None:
            known_to = "" if meant in known else f" Some hosts know {meant} (--profile claude-code)."
            message = f"unknown field {_short(field.key)!r}; did you mean {meant}?{known_to}"
            if (read_as := tool_field(field.key)) is not None:
                message += f" A session reads it as {read_as}."
            taken = document.field(meant) is not None or meant in respelled
            fix = None if taken else _respelled(field, meant)
            respelled.add(meant)
        else:
            # Hosts do not read their own fields under metadata, so the first suggestion is the profile that knows the
            # field.
            advice = (
                "some hosts know it (--profile claude-code); for all others, move it under metadata"
                if field.key in CLAUDE_CODE_FIELDS
                else "move fields that are not in the specification under metadata"
            )
            message = f"unknown field {_short(field.key)!r}; {advice}"
            fix = move_under_metadata(document, field)
        yield finding("frontmatter.unknownField", message, field.key_location, fix=fix)


def _respelled(field: Field, name: str) -> Fix:
    edit = field.origin.edit(field.key_node.start, field.key_node.end, name)
    # A rename must not activate a field that a host obeys, unless a person asks for it.
    safety = FixSafety.UNSAFE if name == "allowed-tools" or name in CLAUDE_CODE_FIELDS else FixSafety.SAFE
    return Fix(safety=safety, title=f"write {name}", edits=(edit,), changes=(field.key, name))


def _absent(document: SkillDocument, key: str, fix: Fix | None) -> Diagnostic:
    line = document.front_matter_line - 1
    place = Location(path=document.path, line=line, column=1, end_line=line, end_column=4)
    return finding(f"{key}.required", f"{key} is missing", place, fix=fix)


def _name_it_after_directory(document: SkillDocument) -> Fix | None:
    name = normalise(document.directory_name or "")
    if not name or name_faults(name):
        return None
    line = document.front_matter_line
    edit = Edit(line=line, column=1, end_line=line, end_column=1, text=f"name: {scalar(name)}\n")
    return Fix(safety=FixSafety.SAFE, title="name it after its directory", edits=(edit,), changes=("name",))


def _rename(field: Field, directory: str) -> Fix | None:
    name = normalise(directory)
    if not name or name_faults(name) or "\n" in field.source:
        return None
    edit = field.origin.edit(field.value.start, field.value.end, scalar(name))
    return Fix(safety=FixSafety.UNSAFE, title=f"rename the skill to {name}", edits=(edit,), changes=("name",))


def _joined(field: Field, texts: list[str] | None) -> Fix | None:
    """Return a fix that writes the tokens as one text with spaces between them."""
    parsed = [parse_allowed_tools(text) for text in texts or ()]
    tokens = [token for part in parsed for token in part.tokens]
    if not tokens or any(part.fault is not None for part in parsed):
        return None
    edit = field.origin.edit(field.key_node.end, field.value.end, f": {scalar(' '.join(map(str, tokens)))}")
    title = "write the tokens with spaces between them"
    return Fix(safety=FixSafety.SAFE, title=title, edits=(edit,), changes=("allowed-tools",))


def _kind(field: Field) -> str:
    match field.value:
        case Scalar():
            return "a text"
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"


def _inside(field: Field, index: int, name: str) -> Location:
    """The place of one character of the name; the place of the whole value if normalising moved characters."""
    if field.text is not None and field.text.strip() == name and index < len(name):
        lead = len(field.text) - len(field.text.lstrip())
        return _character(field, field.value, index + lead)
    return field.location


def _character(field: Field, node: object, index: int) -> Location:
    """The place of character `index` of a scalar; the place of the whole scalar if it has escapes or line breaks."""
    if not isinstance(node, Scalar):
        return field.location
    source = field.origin.text[node.start : node.end]
    lead = 1 if node.style in {"'", '"'} else 0
    if source[lead : lead + len(node.text)] != node.text:
        return field.origin.location(node.start, node.end)
    start = node.start + lead + index
    return field.origin.location(start, start + 1)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 -- fits in a line of a report
