"""The errors that `prowess check` finds in skills, for commands that refuse skills with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.cli.check_run import CheckRun
from prowess.cli.options.configuration_options import open_configuration
from prowess.cli.skill_result import Silencing
from prowess.cli.targets import targets
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic


def check_errors(directories: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return the errors that `prowess check` finds in these skills."""
    configuration = open_configuration(config_file=None, isolated=False)
    run = CheckRun(configuration, Silencing(configuration, None))
    run.judge(targets(directories), None)
    return tuple(found for skill in run.skills for found in skill.diagnostics if found.severity is Severity.ERROR)
