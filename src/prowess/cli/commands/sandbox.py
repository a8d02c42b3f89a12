"""`prowess sandbox`: attempts known escapes from the sandbox of this machine, and reports which ones it blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.errors import SandboxUnavailableError
from prowess.execution import default_sandbox

if TYPE_CHECKING:
    from prowess.execution.self_check import Finding, SelfCheck


@click.group(name="sandbox")
def command() -> None:
    """Test what the sandbox of this machine blocks.

    Example: prowess sandbox check
    """


@command.command(name="check")
@json_option
def check(*, as_json: bool) -> int:
    """Try to escape the sandbox and to exceed its limits.

    Exits with 1 if an attempt succeeded, and with 4 if there is no sandbox.

    Example: prowess sandbox check --json
    """
    import anyio  # Imported here because only this command needs the event loop and the probes.

    from prowess.execution.self_check import check_sandbox

    sandbox = default_sandbox()
    report = sandbox.probe()
    if not report.available:
        if as_json:
            output.document({"available": False, "backend": report.backend, "tier": 0, "hint": report.hint})
            return exit_codes.UNAVAILABLE
        raise SandboxUnavailableError(report.backend, report.hint)
    found = anyio.run(check_sandbox, sandbox)
    if as_json:
        output.document(
            {
                "available": True,
                "backend": report.backend,
                "version": report.version,
                "program": report.program,
                "tier": found.report.tier,
                "passed": found.passed,
                "overhead_ms": found.overhead_ms,
                "escapes": found.escapes,
                "limits": found.limits,
            }
        )
    else:
        _print(found)
    return exit_codes.OK if found.passed else exit_codes.FAILED


def _print(found: SelfCheck) -> None:
    output.line(
        f"tier {found.report.tier}  {found.report.backend} {found.report.version}   "
        f"{_share(found.escapes)} escapes blocked   {_share(found.limits)} limits enforced   +{found.overhead_ms:g} ms"
    )
    for kind, findings in (("escape", found.escapes), ("limit", found.limits)):
        for finding in findings:
            if finding.held is not True:
                verdict = "not available" if finding.held is None else output.styled("NOT STOPPED", "red")
                output.line(f"  {kind} {finding.name}: {verdict}: {finding.detail}")


def _share(findings: tuple[Finding, ...]) -> str:
    return f"{sum(finding.held is True for finding in findings)} of {len(findings)}"
