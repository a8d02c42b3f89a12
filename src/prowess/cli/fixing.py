"""`--fix` and `--diff` of `prowess check`: fix each document, write it or show the difference, and count the fixes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable, printable_line
from prowess.cli import output
from prowess.diagnostics import FixSafety
from prowess.fix import fix_document
from prowess.fix.applying import difference, replace_file
from prowess.format.parsing import parse_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

_COLOURS = {"-": "red", "+": "green", "@": "cyan"}


class Fixing:
    """Applies the fixes of one command line. If `writes` is false, only the difference is shown."""

    def __init__(self, *, unsafe: bool, writes: bool) -> None:
        self._unsafe = unsafe
        self._writes = writes
        self.fixed = 0
        self.files = 0
        self.left_alone = 0  # files that could not be written

    def fix(
        self,
        document: SkillDocument,
        data: bytes,
        check: Callable[[SkillDocument], Sequence[Diagnostic]],
        *,
        within: str,
    ) -> SkillDocument:
        """Fix a document, whose bytes are `data`. Return the fixed document if it was written, else the given one."""

        def read(new: bytes) -> SkillDocument:
            return parse_source(new, path=document.path, directory=document.directory, found=of_the_file)

        # Findings made before the file was read: its name is wrong, or it cannot be read.
        of_the_file = tuple(found for found in document.diagnostics if found.rule.startswith("file."))
        if not data or any(found.rule != "file.name" for found in of_the_file):
            return document
        result = fix_document(data, read, check, unsafe=self._unsafe)
        self._fix_beside(document, result.findings, within=within)
        if result.data == data:
            return document
        path = document.path or ""
        if self._writes:
            file = os.path.join(document.directory or "", os.path.basename(path))
            reason = replace_file(file, data, result.data, within=within)
            if reason is not None:
                self._left_alone(path, reason)
                return document
        else:
            show_difference(path, data, result.data)
        self.files += 1
        self.fixed += len(result.fixed)
        return result.document if self._writes else document

    def _fix_beside(self, document: SkillDocument, findings: Sequence[Diagnostic], *, within: str) -> None:
        """Write LF line ends in other files of the skill that need them, unless the user named only the SKILL.md."""
        if os.path.isfile(within):
            return
        own = document.path or ""
        prefix = own[: len(own) - len(os.path.basename(own))]
        for found in findings:
            fix, path = found.fix, found.location.path
            if fix is None or not fix.lf or path is None or document.directory is None:
                continue
            if fix.safety is not FixSafety.SAFE and not self._unsafe:
                continue
            file = os.path.join(document.directory, path.removeprefix(prefix))
            try:
                with open(file, "rb") as opened:
                    before = opened.read()
            except OSError as fault:
                self._left_alone(path, fault.strerror or "it cannot be read")
                continue
            after = before.replace(b"\r\n", b"\n")
            if not self._writes:
                show_difference(path, before, after)
            elif (reason := replace_file(file, before, after, within=within)) is not None:
                self._left_alone(path, reason)
                continue
            self.files += 1
            self.fixed += 1

    def _left_alone(self, path: str, reason: str) -> None:
        self.left_alone += 1
        output.error(printable_line(f"{path} was not fixed: {reason}"))

    def summary(self) -> str:
        """Return one sentence with the number of faults and files that were fixed, or would be."""
        verb = "fixed" if self._writes else "would fix"
        return f"{verb} {counted(self.fixed, 'fault')} in {counted(self.files, 'file')}"


def show_difference(path: str, before: bytes, after: bytes) -> None:
    """Print the unified diff between two versions of a file."""
    texts = [data.decode("utf-8", "replace") for data in (before, after)]
    lines = []
    for line in difference(printable_line(path), *texts):
        shown, colour = printable(line), _COLOURS.get(line[:1])
        lines.append(shown if colour is None else output.styled(shown, colour))
    output.raw("".join(f"{line}\n" for line in lines))
