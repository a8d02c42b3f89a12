"""The rule `reference.chain`."""

from __future__ import annotations

from prowess.format.rules.body_rules import inner_components
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import local_targets, names_folder


class ReferenceChain(LintRule):
    """A file that is named only by another reference file.

    What it does:
        Reads the Markdown files that SKILL.md links to or names by path, and looks in them for links or paths to other
        Markdown files of the skill. SKILL.md must also name each of the files found: by its path, its name or its
        directory.

    Why it matters:
        An agent that follows a chain of files often stops after the first file, or reads only its beginning.

    Example:
        SKILL.md links to `references/forms.md`, and only that file links to `references/fields.md`.

    Instead:
        Link to `references/fields.md` from SKILL.md too, and state when to read it.
    """

    meta = RuleMeta(
        id="reference.chain",
        order=16,
        most=50,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="SKILL.md itself names each reference file.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each file that SKILL.md does not name, once, at the link in SKILL.md that leads to it."""
        known = {"/".join(inner_components(link.path) or ()) for link in subject.named} | {"SKILL.md"}
        seen: set[str] = set()
        for link in subject.named:
            path = "/".join(inner_components(link.path) or ())
            if path in seen or not path.lower().endswith(".md") or path == "SKILL.md":
                continue
            seen.add(path)
            for target in local_targets(subject.files.text(path) or "", path, subject.files):
                if target in known or _names(subject.body, target):
                    continue
                known.add(target)
                location = subject.document.origin.location(link.start, link.end)
                yield self.meta.found(f"{target} is reached only through {path}; name it in SKILL.md", location)


def _names(body: str, target: str) -> bool:
    """Whether the body names a file or the file's directory."""
    folder, _, name = target.rpartition("/")
    return name in body or (bool(folder) and names_folder(body, folder))
