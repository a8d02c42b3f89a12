"""The files that `eval run` and `eval report` write about a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess.errors import InvalidArgumentsError
from prowess.evals.reports.iteration_files import transcripts_of
from prowess.evals.reports.junit import junit_of_run
from prowess.evals.reports.summary import summary_of_run

if TYPE_CHECKING:
    from prowess.evals.campaigns.report import EvalRunReport
    from prowess.evals.optimising.report import ImproveReport
    from prowess.evals.reports.ablation_view import AblationView
    from prowess.evals.reports.trigger_view import TriggerMatrix


class ReportFiles(Struct, frozen=True, kw_only=True):
    """Paths of the files to write; None for those that were not asked for."""

    page: str | None = None
    junit: str | None = None
    summary: str | None = None

    def require_places(self) -> None:
        """Require that the files can be written, before anything is paid for.

        Raises:
            InvalidArgumentsError: a folder is missing or not writable, or the path is one of a folder.
        """
        for path in (self.page, self.junit, self.summary):
            folder = None if path is None else os.path.dirname(os.path.abspath(path))
            if folder is not None and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
                reason = "is not writable" if os.path.isdir(folder) else "does not exist"
                raise InvalidArgumentsError((f"{path} cannot be written: the folder {folder} {reason}",))

    def write(
        self,
        report: EvalRunReport,
        *,
        folder: str,
        cap_usd: float | None = None,
        ablation: AblationView | None = None,
        triggers: TriggerMatrix | None = None,
    ) -> None:
        """Write the files. `folder` is the iteration, with the transcripts.

        Raises:
            InvalidArgumentsError: a file cannot be written.
            MissingExtraError: the page needs the extra `evals`.
        """
        if self.page is not None:
            from prowess.evals.reports.page import PageExtras, report_page  # needs jinja2, which the core has not

            extras = PageExtras(
                cap_usd=cap_usd,
                ablation=ablation,
                triggers=triggers,
                transcripts=transcripts_of(folder, report),
            )
            _write(self.page, report_page(report, extras))
        if self.junit is not None:
            _write(self.junit, junit_of_run(report))
        if self.summary is not None:
            _append(self.summary, summary_of_run(report))


def write_improvement(page: str, found: ImproveReport, *, cap_usd: float | None) -> None:
    """Write the page of a search.

    Raises:
        InvalidArgumentsError: the file cannot be written.
        MissingExtraError: the page needs the extra `evals`.
    """
    from prowess.evals.reports.page import improvement_page  # needs jinja2, which the core has not

    _write(page, improvement_page(found, cap_usd=cap_usd))


def _write(path: str, text: str) -> None:
    try:
        write_atomically(os.path.abspath(path), text.encode(), 0o644)
    except OSError as fault:
        raise InvalidArgumentsError((f"{path} cannot be written: {fault.strerror}",)) from None


def _append(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as fault:
        raise InvalidArgumentsError((f"{path} cannot be written: {fault.strerror}",)) from None
