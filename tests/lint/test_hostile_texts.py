"""No rule is held up by a text that was written to hold it up."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from prowess.format.reading import read_document
from prowess.lint import LINT_RULES
from prowess.lint.subject import LintSubject

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Rule

pytestmark = pytest.mark.unmeasured  # a tracer that counts covered lines makes Python code several times slower

_LENGTH = 60_000
_MOST_SECONDS = 0.5  # of processor time for one rule; what grows with the square of the length takes many seconds
_PARTS = "x\n" * 110 + "\n# a\n# b\n# c\n# d\n"


def _filled(unit: str, length: int = _LENGTH) -> str:
    return unit * (length // len(unit))


@pytest.mark.parametrize(
    ("body", "reference"),
    [
        pytest.param("See references/a.md", _filled("(") + "\n" + _PARTS, id="brackets that open"),
        pytest.param("See references/a.md", "# a" + _filled(" #") + "x\n" + _PARTS, id="a heading that ends and ends"),
        pytest.param("See references/a.md", "- " + _filled(" ") + "\n" + _PARTS, id="an empty item"),
        pytest.param("See references/a.md", _filled("[x](b.md) "), id="dead links"),
        pytest.param("See references/a.md", _filled("references/b.md "), id="paths"),
        pytest.param(_filled("`npx a` "), "x", id="commands in spans"),
        pytest.param("```\n" + _filled("npx a ") + "\n```", "x", id="commands in one line"),
        pytest.param("```\n" + _filled("npx a\n") + "```", "x", id="commands in lines"),
        pytest.param("<!-- " + _filled("send token ") + "-->", "x", id="half an order in a comment"),
        pytest.param("<!-- " + _filled("curl a ") + "-->", "x", id="half a download in a comment"),
        pytest.param(_filled("<!-- ignore all -->\n"), "x", id="comments"),
        pytest.param(_filled("```\n"), "x", id="fences"),
        pytest.param(_filled("a\u200b"), "x", id="invisible characters"),
        pytest.param(_filled("sk-a-"), "x", id="half a secret"),
        pytest.param(_filled("handle errors properly "), "x", id="phrases"),
    ],
)
def test_a_hostile_text_costs_every_rule_little(tmp_path: Path, body: str, reference: str) -> None:
    skill = tmp_path / "alpha"
    (skill / "references").mkdir(parents=True)
    (skill / "references" / "a.md").write_text(reference, encoding="utf-8")
    text = f"---\nname: alpha\ndescription: Sorts lists. Use when a list needs order.\n---\n{body}\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    document = read_document(skill)
    slow = {rule.meta.id: seconds for rule in LINT_RULES if (seconds := _seconds(rule, document)) > _MOST_SECONDS}
    assert slow == {}


def _seconds(rule: Rule[LintSubject], document: SkillDocument) -> float:
    subject = LintSubject(document)
    began = time.process_time()
    list(islice(rule.check(subject), rule.meta.most))
    return time.process_time() - began
