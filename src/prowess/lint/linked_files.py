"""The Markdown files that a skill links to, and what they link to in turn. One step, no walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.markdown import outline
from prowess._internal.percent import percent_decoded
from prowess.format.references import inner_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.skill_files import SkillFiles
    from prowess.lint.subject import LintSubject

_MAX_TARGETS = 200


def linked_markdown(subject: LintSubject) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file that the body links to, once."""
    seen: set[str] = set()
    for link in subject.links:
        path = "/".join(inner_components(link.path) or ())
        if path in seen or not path.lower().endswith(".md") or subject.texts is None:
            continue
        seen.add(path)
        if text := subject.texts.text(path):
            yield path, text


def local_targets(text: str, path: str, files: SkillFiles) -> Iterator[str]:
    """Yield the files of the skill that a file links to: seen from the skill's directory, else from its own."""
    if "](" not in text:
        return
    here = path.rpartition("/")[0]
    for link in outline(text).links[:_MAX_TARGETS]:
        target = percent_decoded(link.target.partition("#")[0].partition("?")[0])
        if not target or ":" in target or target.startswith(("/", "~")) or not target.lower().endswith(".md"):
            continue
        for candidate in (target, f"{here}/{target}"):
            components = inner_components(candidate)
            if components and files.look_for("/".join(components)).kind == "found":
                yield "/".join(components)
                break
