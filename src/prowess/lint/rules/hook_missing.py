"""The rule `hooks.missing`, and the faults of a skill's hooks as a session would report them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.globs import path_components
from prowess._internal.yaml_reader import Mapping, Scalar, Sequence
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.fields.placeholders import PLUGIN_VARIABLE, SKILL_VARIABLES
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Location
    from prowess.format.fields.hooks import HookFault

_MAX_SUGGESTIONS = 20  # Limit, because each suggestion is a search through all files.
_OWN = tuple(f"${{{name}}}/" for name in (*SKILL_VARIABLES, PLUGIN_VARIABLE))


class HookMissing(LintRule):
    """A hook whose script is missing.

    What it does:
        Looks for the script of each hook in the skill's directory, with the spelling on disk. It also looks for files
        that a command names by a variable, in the skill and in the skills beside it.

    Why it matters:
        A hook that cannot run prevents the activation of the skill.

    Example:
        `hooks: {pre: scripts/check.sh}`, and `scripts/check.sh` does not exist.

    Instead:
        Add the file, or name an existing one.
    """

    meta = RuleMeta(
        id="hooks.missing",
        order=9,
        most=100,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="A hook's script exists.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each missing file once."""
        seen: set[str] = set()
        for fault, location in hook_faults(subject):
            if (path := fault.missing) is None or path in seen:
                continue
            seen.add(path)
            own = next((path.removeprefix(start) for start in _OWN if path.startswith(start)), path)
            sighting = subject.files.look_for(own)
            near = sighting.path if sighting.kind == "other case" else None
            if near is None and len(seen) <= _MAX_SUGGESTIONS:
                near = subject.files.suggest(own)
            hint = f"; did you mean {near}?" if near else ""
            yield self.meta.found(f"{path} does not exist{hint}", location)


def hook_faults(subject: LintSubject) -> Iterator[tuple[HookFault, Location]]:
    """Yield each fault that prevents the skill's activation, with its location."""
    field, directory = subject.document.field("hooks"), subject.document.directory
    if field is None or directory is None:
        return
    own = os.path.basename(os.path.abspath(directory))

    def has(skill: str, path: str) -> bool:
        if skill == own:
            return subject.files.look_for(path).kind == "found"
        return os.path.exists(os.path.join(os.path.dirname(os.path.abspath(directory)), skill, path))

    written: dict[str, Scalar] = {}
    for text in reversed([*_texts(field.value)]):
        written["/".join(path_components(text.text.strip()))] = written[text.text.strip()] = text
    for hook in extended_fields({"hooks": subject.document.mapping()["hooks"]}).hooks.entries:
        if (fault := hook.fault(own, has)) is not None:
            node = written.get(hook.script or hook.command or "", field.value)
            yield fault, field.origin.location(node.start, node.end)


def _texts(node: Node) -> Iterator[Scalar]:
    match node:
        case Scalar():
            yield node
        case Sequence(items=items):
            for item in items:
                yield from _texts(item)
        case Mapping(entries=entries):
            for _, value in entries:
                yield from _texts(value)
