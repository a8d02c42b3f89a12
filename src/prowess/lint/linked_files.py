"""The Markdown files that a skill names, and what they name in turn. One step, no walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.markdown import outline
from prowess._internal.text.percent import percent_decoded
from prowess.format.references import inner_components
from prowess.lint.bare_paths import bare_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.skill_files import SkillFiles
    from prowess.lint.subject import LintSubject

_MAX_TARGETS = 200
_OWN = "SKILL.md"


def linked_markdown(subject: LintSubject) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file that the body links to or names, once."""
    seen: set[str] = set()
    for link in subject.named:
        path = "/".join(inner_components(link.path) or ())
        if path in seen or not path.lower().endswith(".md") or subject.texts is None:
            continue
        seen.add(path)
        if text := subject.texts.text(path):
            yield path, text


def other_markdown(subject: LintSubject) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file that the body names, that lies in `references/` or beside SKILL.md."""
    if subject.files is None or subject.texts is None:
        return
    seen = {_OWN}
    for path, text in subject.linked_texts:
        if path not in seen:
            seen.add(path)
            yield path, text
    top = subject.files.entries("")
    for folder in ("references/", "") if top.get("references") == "directory" else ("",):
        entries = subject.files.entries(folder.rstrip("/")) if folder else top
        for name in sorted(name for name in entries if name.lower().endswith(".md")):
            path = f"{folder}{name}"
            if entries[name] == "file" and path not in seen:
                seen.add(path)
                if other := subject.texts.text(path):
                    yield path, other


def local_targets(text: str, path: str, files: SkillFiles) -> Iterator[str]:
    """Yield the Markdown files of the skill that a file links to or names: from the skill's directory, else its own."""
    here = path.rpartition("/")[0]
    links = outline(text).links[:_MAX_TARGETS] if "](" in text else []
    linked = (percent_decoded(link.target.partition("#")[0].partition("?")[0]) for link in links)
    for target in (*linked, *(path for path, _ in bare_paths(text))):
        if not target or ":" in target or target.startswith(("/", "~")) or not target.lower().endswith(".md"):
            continue
        for candidate in (target, f"{here}/{target}"):
            components = inner_components(candidate)
            if components and files.look_for("/".join(components)).kind == "found":
                yield "/".join(components)
                break
