"""Calls, refusals, failures and queries in the records of every host: the verdict follows from the words."""

from __future__ import annotations

import pytest

from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.written import BODY, SKILL, N, O, T, answer, init, lines, result, says, use
from tests.evals.verdicts.call_actions import FAILURES, NAMES, PATHS, QUERIES, REFUSALS, UNKNOWN
from tests.evals.verdicts.host_forms import FORMS, WITHOUT_SKILL_TOOL, WITHOUT_TOOLS, read, skill

ASKED = "Chart the sales"
HAS_NO_QUERY = {"claude stream", "codex stream", "opencode stream"}
WITH_SKILL_TOOL = [form for form in FORMS if form not in WITHOUT_SKILL_TOOL]
WITH_READING_TOOL = [form for form in FORMS if form not in WITHOUT_TOOLS]


def verdict(data: bytes, name: str = SKILL, query: str | None = None) -> str:
    return verdict_of(read_transcript_text(data), skill=name, query=query).verdict


def without_skill(form: str, name: str) -> str:
    """Return the verdict on a run without a call: a list that does not have the skill decides it."""
    offered = read_transcript_text(FORMS[form](ASKED, [])).offered
    return N if offered is None or name in (SKILL, f"office:{SKILL}") else O


@pytest.mark.parametrize("form", WITH_SKILL_TOOL)
def test_the_name_that_the_model_gives_decides(form: str) -> None:
    for given, name, expected in NAMES:
        wanted = without_skill(form, name) if expected == N else expected
        assert verdict(FORMS[form](ASKED, [skill(given)]), name) == wanted, (given, name)


@pytest.mark.parametrize("form", WITH_SKILL_TOOL)
def test_a_refused_call_is_a_choice_and_an_unknown_name_is_none(form: str) -> None:
    host = form.split(maxsplit=1)[0]
    for said in REFUSALS[host]:
        assert verdict(FORMS[form](ASKED, [skill(SKILL, said, failed=True)])) == T, said
    for said in UNKNOWN[host]:
        data = FORMS[form](ASKED, [skill(SKILL, said, failed=True)])
        assert verdict(data) == (O if read_transcript_text(data).offered is None else T), said
        twin = f"{SKILL}-4f2a91"
        data = FORMS[form](ASKED, [skill(twin, said.replace(SKILL, twin), failed=True)])
        assert verdict(data) == N, "a twin that the host does not know was not offered"


@pytest.mark.parametrize("form", WITH_READING_TOOL)
def test_a_read_counts_by_its_path_and_its_end(form: str) -> None:
    for path, expected in PATHS:
        assert verdict(FORMS[form](ASKED, [read(path)])) == expected, path
    for said in FAILURES[form.split(maxsplit=1)[0]]:
        failed = read(f"/w/x/{SKILL}/SKILL.md", said, failed=True)
        assert verdict(FORMS[form](ASKED, [failed])) == N, said
        assert verdict(FORMS[form](ASKED, [failed, read(f"/w/y/{SKILL}/SKILL.md")])) == T, said


@pytest.mark.parametrize("form", FORMS)
def test_a_query_names_the_skill_or_does_not(form: str) -> None:
    for query, name, expected in QUERIES:
        wanted = without_skill(form, name) if expected == N else expected
        assert verdict(FORMS[form]("x", []), name, query) == wanted, query
        if form not in HAS_NO_QUERY:
            assert verdict(FORMS[form](query, []), name) == wanted, query


PLUGINS = [f"office:{SKILL}", f"other:{SKILL}"]
CACHE = "/h/.claude/plugins/cache/m/{}/1.0.0/skills/csv-report"


@pytest.mark.parametrize(("plugin", "expected"), [("office", T), ("other", N)])
def test_a_file_in_the_folder_of_another_plugin_is_of_another_skill(plugin: str, expected: str) -> None:
    folder = CACHE.format(plugin)
    calls = {
        "Read": {"file_path": f"{folder}/SKILL.md"},
        "Bash": {"command": f"cat {folder}/SKILL.md"},
        "PowerShell": {"command": f"python {folder}/scripts/run.py"},
    }
    for tool, arguments in calls.items():
        run = lines(init(PLUGINS), use(tool, arguments), answer(BODY), says(), result())
        assert verdict(run, f"office:{SKILL}") == expected, tool
    assert verdict(lines(init([f"other:{SKILL}"]), says(), result()), f"office:{SKILL}") == O
