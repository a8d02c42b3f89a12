"""One shell line after another, in the records of every host: the verdict is that of the line."""

from __future__ import annotations

import pytest

from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.written import SKILL
from tests.evals.verdicts.host_forms import FORMS, shell
from tests.evals.verdicts.script_actions import SCRIPT_ACTIONS
from tests.evals.verdicts.shell_actions import ACTIONS


@pytest.mark.parametrize("form", FORMS)
def test_a_line_gets_the_same_verdict_from_every_host(form: str) -> None:
    wrong = []
    for name, (action, expected) in {**ACTIONS, **SCRIPT_ACTIONS}.items():
        run = read_transcript_text(FORMS[form]("Chart the sales", [shell(*action)]))
        verdict = verdict_of(run, skill=SKILL).verdict
        if verdict != expected or run.notes:
            wrong.append((name, expected, verdict, run.notes))
    assert wrong == []
