"""The cases of a skill: the scenarios of its manifest, joined with `evals/tests.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.errors import UnsafePathError
from prowess.format.manifest.manifest_reader import read_sidecar
from prowess.format.reading import read_skill
from prowess.format.source.source_text import SourceText, decode
from prowess.format.suites.case_scripts import (
    MAX_TESTS_BYTES,
    TESTS_FILE,
    CaseScripts,
    read_case_scripts,
    unknown_names,
)
from prowess.format.suites.suite import SuiteFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format.manifest.manifest import Assertion, Scenario
    from prowess.format.suites.case_scripts import CaseScript

RULE = "testing.tests"


class PlannedCase(Struct, frozen=True, kw_only=True):
    """One case to run. `script` is None if only the manifest has it; then the case cannot be run."""

    skill: str
    directory: str
    scenario: str | None
    case: str
    input: str
    assertions: tuple[Assertion, ...]
    script: CaseScript | None = None


class SkillCases(Struct, frozen=True, kw_only=True):
    """The cases of one skill, and the faults of the files that describe them."""

    cases: tuple[PlannedCase, ...]
    diagnostics: tuple[Diagnostic, ...]


def planned_cases(directory: str, shown: str | None = None) -> SkillCases:
    """Return the cases of the skill in a directory. `shown` is its path in diagnostics.

    Raises:
        SkillParseError: the directory has no skill that can be loaded.
    """
    shown = directory if shown is None else shown
    name = read_skill(directory).name
    sidecar = read_sidecar(directory, shown_as=shown)
    found = [fault for fault in sidecar.faults if fault.rule.startswith(("testing.", "manifest."))]
    text, scripts = _scripts(directory)
    faults = [*scripts.faults, *(unknown_names(text, scripts, sidecar.tests) if text else ())]
    origin = SourceText(path=f"{shown.rstrip('/')}/{TESTS_FILE}", text=text)
    cases = [*_of_manifest(name, directory, sidecar.tests or (), scripts), *_alone(name, directory, scripts)]
    return SkillCases(cases=tuple(cases), diagnostics=(*found, *(_diagnostic(fault, origin) for fault in faults)))


def _of_manifest(
    skill: str, directory: str, scenarios: tuple[Scenario, ...], scripts: CaseScripts
) -> Iterator[PlannedCase]:
    by_name = {(script.scenario, script.case): script for script in scripts.cases}
    for scenario in scenarios:
        for case in scenario.cases:
            script = by_name.get((scenario.name, case.name))
            yield PlannedCase(
                skill=skill,
                directory=directory,
                scenario=scenario.name,
                case=case.name,
                input=case.input if script is None or script.input is None else script.input,
                assertions=(*case.assertions, *(() if script is None else script.assertions)),
                script=script,
            )


def _alone(skill: str, directory: str, scripts: CaseScripts) -> Iterator[PlannedCase]:
    for script in scripts.cases:
        if script.scenario is None:
            yield PlannedCase(
                skill=skill,
                directory=directory,
                scenario=None,
                case=script.case,
                input=script.input or "",
                assertions=script.assertions,
                script=script,
            )


def _scripts(directory: str) -> tuple[str, CaseScripts]:
    """Return the text and the content of the file; both are empty if there is no file."""
    try:
        with ContainedRoot(directory) as root, root.open(TESTS_FILE, allow_hard_links=True) as file:
            data = file.read(MAX_TESTS_BYTES + 1)
    except FileNotFoundError:
        return "", CaseScripts()
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        return "", _unread(f"it cannot be read: {reason}")
    if len(data) > MAX_TESTS_BYTES:
        return "", _unread(f"it is larger than {MAX_TESTS_BYTES} bytes")
    decoded = decode(data)
    messages = [fault.message for fault in decoded.faults if fault.rule != "encoding.bom"]
    if messages:
        return "", _unread(messages[0])
    return decoded.text, read_case_scripts(decoded.text)


def _unread(message: str) -> CaseScripts:
    return CaseScripts(faults=(SuiteFault(file=TESTS_FILE, offset=0, message=message),))


def _diagnostic(fault: SuiteFault, origin: SourceText) -> Diagnostic:
    location = origin.location(fault.offset) if origin.text else Location(path=origin.path)
    return Diagnostic(rule=RULE, family="lint", severity=Severity.ERROR, message=fault.message, location=location)
