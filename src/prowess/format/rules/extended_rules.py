"""The rules on the fields beyond the specification: what `extended_fields` could not read, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import MAX_FAULTS, Mapping, Sequence
from prowess.format.document import key_text
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.limits import EXTENDED_FIELDS
from prowess.format.parsing import finding

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.document import Field, SkillDocument
    from prowess.format.fields.value_readers import FieldFault


def extended_findings(document: SkillDocument, *, repairs: bool) -> list[Diagnostic]:
    """Return what is wrong with the extended fields; with `repairs` those that had to be mended are judged too."""
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
        message = "agent is obeyed only with context: fork; nothing chooses an agent here"
        findings.append(finding("agent.needsFork", message, fields["agent"].location))
    return findings[:MAX_FAULTS]


def place_of(field: Field, fault: FieldFault) -> Location:
    """Walk the tree along the path of the fault; the innermost node that is still found counts."""
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
