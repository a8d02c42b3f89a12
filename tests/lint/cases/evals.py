"""Cases of the rule on evals/evals.json."""

from __future__ import annotations

from tests.lint.case import Case, beside, body

_GOOD = '{"skill_name": "pdf-tables", "evals": [{"id": %s, "prompt": "Sort.", "expected_output": "Rows."%s}]}'
_SAYS = '{"id": "a", "prompt": "Sort.", "expected_output": "Rows."}'

CASES = [
    Case(
        rule="testing.evals",
        bad=beside(
            body("x"),
            evals__evals_json='{\n "skill_name": "other",\n "evals": [\n  {"id": true, "prompt": " ", "files": "a"},\n'
            '  7,\n  {"id": 1, "prompt": "p", "expected_output": "e", "assertions": [{}]},\n'
            '  {"id": "1", "prompt": "p", "expected_output": "e", "files": ["gone", "../out.csv", "SKILL.md"]}\n ]\n}',
        ),
        good=(
            beside(body("x"), evals__evals_json=_GOOD % (1, "")),
            beside(
                body("x"), evals__evals_json=f'\ufeff{{"evals": [{_SAYS}], "skill_name": "pdf-tables", "more": [{{}}]}}'
            ),
            beside(
                body("x"), evals__evals_json=_GOOD % ('"a"', ', "files": ["SKILL.md"], "expectations": ["Sorted."]')
            ),
            beside(body("x"), evals__trigger_json="no"),
            beside(body("x"), evals__evals_json='{"skill_name": "pdf-tables", "evals": []}'),
        ),
        says="skill_name is 'other', but the name of the skill is 'pdf-tables'",
        line=2,
        times=10,
    ),
    Case(
        rule="testing.evals",
        bad=beside(body("x"), evals__evals_json='{\n "evals": [,]\n}'),
        good=(),
        says="evals/evals.json is not JSON: Expecting value",
        line=2,
    ),
    Case(rule="testing.evals", bad=beside(body("x"), evals__evals_json="[" * 200_000), good=(), says="too deeply"),
    Case(
        rule="testing.evals",
        bad=beside(body("x"), evals__evals_json='{"skill": "other",\n "cases": [{"id": 1, "question": "q"}]}'),
        good=(
            beside(
                body("x"),
                evals__evals_json='{"skill": "pdf-tables", "cases": [{"id": 1, "question": "q", "ground_truth": "g"}]}',
            ),
            beside(body("x"), evals__evals_json='{"id": 1, "question": "q", "ground_truth": "g"}'),
        ),
        says="skill is 'other', but the name of the skill is 'pdf-tables'",
        line=1,
        times=2,
    ),
    Case(rule="testing.evals", bad=beside(body("x"), evals__evals_json="7"), good=(), says="with a list `evals`"),
    Case(
        rule="testing.evals",
        bad=beside(
            body("x"),
            evals__evals_json='[\n  {"id": "a", "question": ""},\n  7,\n  {"id": "a", "question": "q",'
            ' "ground_truth": "g", "expected_behavior": ["b", 1], "files": ["gone"]},\n  {"id": "b", "prompt": "p"}\n]',
        ),
        good=(
            beside(body("x"), evals__evals_json="[]"),
            beside(body("x"), evals__evals_json=f"[{_SAYS}]"),
            beside(
                body("x"),
                evals__evals_json='[{"id": "a", "question": "q", "expected_skill": null, "expected_script": "a.py",'
                ' "ground_truth": "g", "expected_behavior": ["b"], "should_trigger": false, "files": ["SKILL.md"]},'
                ' {"id": 2, "question": "q", "ground_truth": null, "expected_behavior": ["b"]},'
                ' {"id": 3, "question": "q", "ground_truth": "g", "expected_behavior": []},'
                ' {"id": 4, "question": "q", "should_trigger": false},'
                ' {"id": 5, "question": "q", "expected_skill": null}]',
            ),
        ),
        says="evals[0] must have one of ground_truth, expected_behavior, expected_output",
        line=2,
        times=7,
    ),
    Case(
        rule="testing.evals",
        bad=beside(body("x"), evals__evals_json=f'{{"evals": [{", ".join(["{}"] * 50)}]}}'),
        good=(),
        says="skill_name must be",
        times=20,
    ),
    Case(
        rule="testing.tests",
        bad=beside(
            body("x"),
            evals__tests_yaml="cases:\n- scenario: sums\n  case: one\n- {case: two, input: x, turns: [{says: a}]}\n"
            "- 7\n"
            "- {case: two, input: x, expect: [{called: Read, activated: a}, {turn: 0, context_contains: x}]}\n"
            "- {case: three, input: x, responses: [{tool: Fetch}, {tool: skills.load, result: 1}]}\n",
        ),
        good=(
            beside(body("x"), evals__tests_yaml="cases:\n- {case: b, input: x, turns: [{text: a}]}\n"),
            beside(
                body("x"),
                evals__tests_yaml="cases: [{scenario: sums, case: one, turns: [{text: a}]}]",
                **{
                    "skill.manifest_yaml": "tests:\n- name: sums\n  description: Sums.\n  cases:\n"
                    "  - {name: one, input: x, assertions: []}\n"
                },
            ),
        ),
        says="cases[1].turns[0] has no key 'says'",
        times=7,
    ),
]
