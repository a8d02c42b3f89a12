"""Rules on the body (its length, its links) and on the extended fields.

References are the links of the body to files, as paths relative to the skill's directory. Links to the web, mail
addresses, anchors and slash commands are not files. A target is percent-decoded once, as Markdown requires; query and
fragment are not part of the path. This module does not access the disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.markdown import links, possible_targets
from prowess._internal.yaml_reader import MAX_FAULTS, Mapping, Sequence
from prowess.diagnostics import Location
from prowess.format.document import key_text
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.limits import EXTENDED_FIELDS, MAX_BODY_LINES
from prowess.format.parsing import finding

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import Field, SkillDocument
    from prowess.format.fields.value_readers import FieldFault

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+:"
_DRIVE = r"[A-Za-z]:"
_HOME = r"@?~[^/\\]*(?:[/\\]|$)"  # some hosts mark a file by `@` before its path
_COMMAND = r"/[\w-]+:[\w-]+"  # `/plugin:skill` in some hosts


class Reference(Struct, frozen=True, kw_only=True):
    """One link to a file.

    `path` is the decoded path; `start` and `end` are the offsets of the target in `document.text`.

    `leads` is the kind of path: `inside` the skill, `outside` it, or `absolute`. `exact` is true if the offsets contain
    exactly the target, so that it can be replaced.
    """

    target: str
    path: str
    leads: Literal["inside", "outside", "absolute"]
    start: int
    end: int
    exact: bool


def references(document: SkillDocument) -> list[Reference]:
    """Return the links and images of the body that refer to files, in the order of the text."""
    if not _may_link(document.body):
        return []
    found = []
    for link in links(document.body):
        path = _file_path(link.target)
        if path is None:
            continue
        start, end = link.start + document.body_offset, link.end + document.body_offset
        at = document.text.find(f"]({link.target}", start, end)
        exact = at >= 0
        if exact:
            start, end = at + 2, at + 2 + len(link.target)
        found.append(Reference(target=link.target, path=path, leads=leads(path), start=start, end=end, exact=exact))
    return found


def leads(path: str) -> Literal["inside", "outside", "absolute"]:
    """Classify a decoded path relative to the skill's directory, without disk access; see `Reference`."""
    if path[0] in "/\\" or re.match(_DRIVE, path) or re.match(_HOME, path) or path.lower().startswith("file:"):
        return "absolute"
    # A backslash is a separator on Windows, so a path with backslashes can leave the skill too.
    return "outside" if inner_components(path.replace("\\", "/")) is None else "inside"


def inner_components(path: str) -> list[str] | None:
    """Return the components of a relative path with `.` and `..` resolved; `None` if it leaves the root."""
    components: list[str] = []
    for component in path.split("/"):
        if component == "..":
            if not components:
                return None
            components.pop()
        elif component not in {"", "."}:
            components.append(component)
    return components


def _may_link(body: str) -> bool:
    """Whether any link may refer to a file. Most bodies link only to the web or to headings."""
    return any(
        target[:1] != "#" and (not re.match(_SCHEME, target) or target[:5].lower() == "file:")
        for target in possible_targets(body)
    )


def _file_path(target: str) -> str | None:
    """Return the decoded path of a link target, or `None` if the target is not a file."""
    target = target.strip()
    if target.lower().startswith("file:"):
        return target
    if not target or target[0] in "#?{" or "${" in target or "{{" in target:  # placeholders are filled in later
        return None
    if re.match(_SCHEME, target) or re.fullmatch(_COMMAND, target):
        return None
    return percent_decoded(target.partition("#")[0].partition("?")[0]) or None


_ENCODED = "(?:%[0-9A-Fa-f]{2})+"
_RESERVED = r"[^A-Za-z0-9_.~/-]+"


def percent_decoded(text: str) -> str:
    """Percent-decode once. Bytes that are not UTF-8 become replacement characters."""
    return re.sub(_ENCODED, lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), text)


def percent_encoded(path: str) -> str:
    """Percent-encode everything except unreserved characters and `/`."""
    return re.sub(
        _RESERVED, lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape")), path
    )


def body_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return the findings on the whole body, placed at the first line above the limit."""
    lines = body_lines(document.body)
    if lines <= MAX_BODY_LINES:
        return []
    message = f"the body has {lines} lines, at most {MAX_BODY_LINES} are advised; move detail into references/"
    location = Location(path=document.path, line=document.body_line + MAX_BODY_LINES, column=1)
    return [finding("body.maxLines", message, location)]


def body_lines(body: str) -> int:
    """Count the lines of a body; a final line break does not add a line."""
    return body.count("\n") + (not body.endswith("\n") and bool(body))


_RULES = {"outside": "reference.escape", "absolute": "reference.absolute"}
_ROOTS = frozenset(  # Top directories of a machine. Another path that begins with a slash may be a page of a website.
    {"Applications", "Library", "System", "Users", "Volumes", "bin", "dev", "etc", "home", "lib", "media", "mnt"}
    | {"opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"}
)
# Texts shared by all messages about links that leave the skill.
LEADS_OUT = "leads out of the skill; put the file into the skill"
IS_ABSOLUTE = "is absolute; link to files relative to the skill's directory"
_SENTENCE = 500  # characters before and after a link that are searched for quotes


def reference_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return a finding for each link that leaves the skill. The target itself is not opened."""
    findings = []
    for reference in references(document):
        if reference.leads == "inside" or (_may_be_a_page(reference) and _is_quoted(document.text, reference)):
            continue
        location = document.origin.location(reference.start, reference.end)
        target = reference.target if len(reference.target) <= 80 else f"{reference.target[:77]}..."  # noqa: PLR2004 -- fits in a line of a report
        findings.append(finding(_RULES[reference.leads], f"{target} {_reason(reference)}", location))
        if len(findings) == MAX_FAULTS:
            break
    return findings


def _may_be_a_page(reference: Reference) -> bool:
    """Whether the path looks like a page of a website (`/docs/start`), not a file of a machine."""
    first, *others = reference.path.split("/")
    return first == "" and others[0] not in _ROOTS and "." not in others[-1]


def _is_quoted(text: str, reference: Reference) -> bool:
    """Whether the link is between double quotes in its line, and so part of an example sentence."""
    before = text[max(reference.start - _SENTENCE, 0) : reference.start].rpartition("\n")[2]
    after = text[reference.end : reference.end + _SENTENCE].partition("\n")[0]
    return before.count('"') % 2 == 1 and '"' in after


def _reason(reference: Reference) -> str:
    components = reference.path.replace("\\", "/").split("/")
    if reference.leads == "outside":
        if components[-1].lower() == "skill.md":
            return "leads to another skill, which may be installed elsewhere; write its name instead of a link"
        return LEADS_OUT
    if _may_be_a_page(reference):
        return f"{IS_ABSOLUTE}, and to web pages by their full URL"
    return IS_ABSOLUTE


def extended_findings(document: SkillDocument, *, repairs: bool) -> list[Diagnostic]:
    """Return the findings on the extended fields. Repaired fields are included only with `repairs`."""
    fields: dict[str, Field] = {}
    for field in document.fields:
        if field.key in EXTENDED_FIELDS and (repairs or not field.repaired):
            fields.setdefault(field.key, field)
    if not fields:
        return []
    properties = document.mapping()
    read = extended_fields(properties)
    faults = [fault for fault in read.faults if fault.path[0] in fields]
    findings = [finding(fault.rule, fault.message, place_of(fields[str(fault.path[0])], fault)) for fault in faults]
    if "agent" in fields and read.agent is not None and read.context != "fork":
        message = "agent has an effect only with context: fork; add that, or remove agent"
        findings.append(finding("agent.needsFork", message, fields["agent"].location))
    return findings[:MAX_FAULTS]


def place_of(field: Field, fault: FieldFault) -> Location:
    """Follow the path of the fault through the YAML tree. Return the place of the innermost node found."""
    key, node = field.key_node, field.value
    for part in fault.path[1:]:
        if isinstance(node, Sequence) and isinstance(part, int):
            node = node.items[part]
        elif isinstance(node, Mapping):
            inner = next((entry for entry in node.entries if key_text(entry[0], field.origin) == part), None)
            if inner is None:
                break
            key, node = inner
    shown = key if fault.on_key else node
    return field.origin.location(shown.start, shown.end)
