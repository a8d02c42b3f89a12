"""Findings of the catalog: skills that are not listed, or are listed with a problem. Messages state how to fix them.

A skipped skill is an error; other problems are warnings. Faults inside a SKILL.md are reported by `prowess.format`,
under the rules of that package.
"""

from __future__ import annotations

from msgspec import Struct

from prowess.diagnostics import Diagnostic, Location, Severity


class Notice(Struct, frozen=True, kw_only=True):
    """A notice for the person who runs the host.

    `code` is stable (`project_untrusted`, `package_untrusted`, `trust_unreadable`, `no_directory`). `message` is one
    sentence.
    """

    code: str
    message: str


_E, _W = Severity.ERROR, Severity.WARNING

CATALOG_RULES = {  # Severity and summary by rule id. Ids never change.
    "catalog.root": (_E, "A named root is a directory that exists."),
    "catalog.unreadable": (_E, "Every directory below a root can be read."),
    "catalog.link": (_W, "A link below a root leads to a directory."),
    "catalog.cycle": (_W, "No link leads back to a directory above it."),
    "catalog.depth": (_W, "Skills are within the depth that is searched."),
    "catalog.count": (_W, "The number of directories that are not skills is within the limit of a search."),
    "catalog.loose": (_W, "SKILL.md is in a directory of its own below a root of skills."),
    "catalog.spelling": (_E, "The file of a skill is called SKILL.md."),
    "catalog.hidden": (_W, "No skill is below another one."),
    "catalog.plugin": (_W, "A plugin's manifest is used as written, its name is unique, and its skills are inside it."),
    "catalog.encoding": (_E, "The name of a directory is UTF-8."),
    "catalog.hardLink": (_E, "SKILL.md has no second hard link."),
    "catalog.enterprise": (_E, "Only administrators can change an enterprise skill."),
    "catalog.package": (_E, "The files of a package's skill are those that the package recorded."),
    "catalog.locked": (_E, "A locked skill is in the store, with the files that the lock names."),
    "catalog.mirror": (_E, "A copy of another server's skill is unchanged since it was fetched."),
    "catalog.stranger": (_E, "The folders of skills of a trusted project are the user's own."),
    "catalog.hiddenText": (_W, "A description has no invisible characters."),
    "catalog.reserved": (_E, "No name is reserved by a skipped skill of a higher layer."),
    "catalog.shadowed": (_W, "A name has one copy."),
}


def fault(rule: str, path: str, message: str, *, skill: str | None = None) -> Diagnostic:
    """Return a finding about `path`, with the severity of the rule."""
    severity, _ = CATALOG_RULES[rule]
    return Diagnostic(
        rule=rule, family="catalog", severity=severity, message=message, location=Location(path=path), skill=skill
    )
