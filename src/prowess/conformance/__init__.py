"""The conformance kit: cases of the format as language-neutral data, and a runner that puts them to any other tool.

The data is one JSON file (`cases`), described by a schema (`cases_schema`), so an implementation in another language
can also take it without us. `runner` lays each case out and asks a command about it, one process a question, watched
by a process of its own (`watcher`). `agreement` holds what was answered against what a profile expects.
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
