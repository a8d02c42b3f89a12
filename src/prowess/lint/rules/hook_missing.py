"""The rule `hooks.missing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.globs import path_components
from prowess._internal.yaml_reader import Mapping, Scalar, Sequence
from prowess.format.fields.extended_fields import extended_fields
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node

# Each suggestion is a search through all files.
_MAX_SUGGESTIONS = 20


class HookMissing(LintRule):
    """A hook whose script the skill does not have.

    What it does:
        Looks for the script of each hook in the skill's directory, spelled as it is on disk. Commands are not read.

    Why it matters:
        A hook that cannot run stops the activation of the skill.

    Example:
        `hooks: {pre: scripts/check.sh}`, and there is no `scripts/check.sh`.

    Instead:
        Add the file, or name one that is there.
    """

    meta = RuleMeta(
        id="hooks.missing",
        order=9,
        most=100,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="A hook's script exists.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that is missing, once."""
        field = subject.document.field("hooks")
        if field is None or subject.document.directory is None:
            return
        hooks = extended_fields({"hooks": subject.document.mapping()["hooks"]}).hooks
        scripts = dict.fromkeys(hook.script for hook in hooks.entries if hook.script is not None)
        written = {"/".join(path_components(text.text.strip())): text for text in reversed([*_texts(field.value)])}
        missing = 0
        for script in scripts:
            sighting = subject.files.look_for(script)
            if sighting.kind == "found":
                continue
            missing += 1
            near = sighting.path if sighting.kind == "other case" else None
            if near is None and missing <= _MAX_SUGGESTIONS:
                near = subject.files.suggest(script)
            hint = f"; did you mean {near}?" if near else ""
            node = written.get(script, field.value)
            yield self.meta.found(f"{script} does not exist{hint}", field.origin.location(node.start, node.end))


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
