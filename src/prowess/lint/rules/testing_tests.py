"""The rule `testing.tests`."""

from __future__ import annotations

from prowess.format.limits import MANIFEST_FILE
from prowess.format.manifest.manifest_reader import parse_sidecar
from prowess.format.suites.case_scripts import TESTS_FILE, read_case_scripts, unknown_names
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities


class TestingTests(LintRule):
    """A file of tests that `prowess test` cannot run.

    What it does:
        Checks `evals/tests.yaml`, if it exists. Each case names a case of `skill.manifest.yaml`, or has an input of its
        own. Turns, responses and expectations have the fields of their kind, and no others.

    Why it matters:
        `prowess test` runs no case that it cannot read, so the case tests nothing.

    Example:
        `cases: [{case: sums, turns: [{says: "12.50"}]}]`

    Instead:
        `cases: [{case: sums, input: "Sum up a.csv", turns: [{text: "12.50"}]}]`
    """

    __test__ = False  # stops pytest from collecting this class

    meta = RuleMeta(
        id="testing.tests",
        order=70,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="evals/tests.yaml can be run by prowess test.",
        source="Prowess, test scenarios",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each fault, at its place in the file."""
        entries = subject.files.entries("evals")
        if "tests.yaml" not in entries or (text := subject.files.text(TESTS_FILE)) is None:
            return
        scripts = read_case_scripts(text)
        manifest = subject.files.text(MANIFEST_FILE) if MANIFEST_FILE in subject.files.entries("") else None
        scenarios = None if manifest is None else parse_sidecar(manifest.encode("utf-8", "replace")).tests
        for fault in (*scripts.faults, *unknown_names(text, scripts, scenarios)):
            place = subject.file_place(TESTS_FILE, fault.offset, text.removeprefix("\ufeff"))
            yield self.meta.found(fault.message, place)
