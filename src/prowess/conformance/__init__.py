"""The conformance kit: language-neutral test cases of the format, and a runner that tests any other tool.

The cases are one JSON file (`cases`) with a schema (`cases_schema`), so implementations in other languages can use it
directly. `runner` writes the files of each case and runs a command on them, one process per case, supervised by a
separate process (`watcher`). `agreement` compares the answers with the expectations of a profile.
"""

from __future__ import annotations

from prowess.conformance.cases import FORMAT, VERSION, Case, Suite, cases_schema, suite
from prowess.conformance.runner import Agreement, Answer, Question, Verdict, agreement, ask

__all__ = [
    "FORMAT",
    "VERSION",
    "Agreement",
    "Answer",
    "Case",
    "Question",
    "Suite",
    "Verdict",
    "agreement",
    "ask",
    "cases_schema",
    "suite",
]
