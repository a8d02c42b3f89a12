"""The page of a run: its answer, its limits, and foreign text in every field."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.report import WITH_SKILL, RateDelta
from prowess.evals.reports.ablation_view import read_ablation
from prowess.evals.reports.answer import answer_of
from prowess.evals.reports.page import PageExtras, report_page
from prowess.evals.reports.plot import forest_plot
from prowess.evals.reports.trigger_view import read_triggers
from tests.evals.reports.sample_report import HOSTILE, hostile, hostile_transcript, reported, sample, transcript

KILOBYTE = 1000


class Elements(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def words(page: str) -> str:
    body = page.partition("<body>")[2]
    return " ".join(" ".join(Elements(body).texts).split())


def test_the_answer_is_a_sentence() -> None:
    report = sample()
    answer = answer_of(report)
    assert re.fullmatch(
        r"invoice-check raises the pass rate by \d+ points over runs without it \(95 % interval \+\d+ to \+\d+\)\.",
        answer.headline,
    )
    assert (answer.tone, answer.headline in words(report_page(report))) == ("good", True)
    worse = replace(report, summary=replace(report.summary, delta=RateDelta(mean=-0.2, low=-0.3, high=-0.1)))
    assert answer_of(worse).headline.startswith("invoice-check lowers the pass rate by 20 points, compared with runs")
    open_ = replace(report, summary=replace(report.summary, delta=RateDelta(mean=0.02, low=-0.1, high=0.1)))
    assert answer_of(open_).headline.startswith("No difference is shown over runs without it: invoice-check has +2")
    few = sample(evals=9)
    told = answer_of(replace(few, summary=replace(few.summary, delta=RateDelta(mean=1.0, low=1.0, high=1.0))))
    wanted = "9 evals are too few to tell a difference over runs without it: invoice-check has +100 points"
    assert told.headline == f"{wanted} (interval +100 to +100, too narrow with only 9 evals)."
    assert told.tone == "unsure"
    assert forest_plot(few).total.tone == "unsure"  # type: ignore[union-attr]  # it has a difference
    alone = reported([unit for unit in report.units if unit.configuration == WITH_SKILL])
    assert re.match(r"invoice-check passes in \d+ of \d+ runs: \d+ %, 95 % interval", answer_of(alone).headline)
    single = replace(report, summary=replace(report.summary, delta=RateDelta(mean=0.5, low=None, high=None)))
    assert answer_of(single).headline.startswith("One eval alone shows no difference that can be trusted")
    unpriced = replace(single, spent=replace(single.spent, usd=None))
    assert "An unknown amount spent of a cap of $2.00" in words(report_page(unpriced, PageExtras(cap_usd=2.0)))
    assert answer_of(reported([])).headline == "No run of invoice-check could be graded."


def test_what_limits_the_answer_is_beside_it() -> None:
    report = sample()
    stopped = replace(report, complete=False, stopped="cost_cap")
    shown = words(report_page(stopped, PageExtras(cap_usd=2.0)))
    assert "The run is not complete: the cap on cost stopped it, 0 runs left." in shown
    assert "3 runs ended with an error. Errors are no part of any rate." in shown
    assert "1 run of the baseline saw the skill" in shown
    assert "of a cap of $2.00" in shown
    assert "529 overloaded" in shown


def test_every_run_is_a_dot_and_errors_are_apart() -> None:
    plot = forest_plot(sample())
    dots = [one for row in plot.rows for one in row.dots]
    counts = [sum(getattr(one, kind).count("M") for one in dots) for kind in ("passed", "failed", "errors", "others")]
    assert (sum(counts), counts[2], counts[3]) == (100, 3, 1)
    first = plot.rows[0]
    assert first.line is not None
    assert first.line.low <= first.line.value <= first.line.high
    assert [one.configuration for one in first.dots] == ["without_skill", "with_skill"]
    assert "1 ended with an error" in first.dots[0].told


def test_ablation_and_matrix_are_shown_if_they_are_given() -> None:
    data = {
        "units": [
            {"path": "SKILL.md", "line": 7, "text": "Use a friendly tone.", "verdict": "no_effect", "delta": 0.0},
            {"path": "SKILL.md", "line": 5, "text": "Round half up.", "verdict": "needed", "delta": -0.6, "low": -0.9},
            {"path": "references/a.md", "line": 1, "text": "Maybe.", "verdict": "unsure", "failing": ["e1"]},
        ],
        "score": 0.3,
    }
    shadow = {"skill": "a", "shadowed_by": "b", "lost": 1, "requests": 4, "share": 0.25, "words": ["sum", "bill"]}
    row = {"skill": "a", "requests": 4, "runs": 12, "answers": {"a": 9, "b": 3}, "nobody": 1}
    matrix = read_triggers({"matrix": [row, {**row, "skill": "b", "answers": {"b": 12}}], "shadows": [shadow]})
    page = report_page(sample(), PageExtras(ablation=read_ablation(data), triggers=matrix))
    shown = words(page)
    assert "1 of 3 parts are needed" in shown
    assert shown.index("Round half up. needed (\u221260 points if removed)") < shown.index(
        "Use a friendly tone. no effect"
    )
    assert 'class="w3"' in page
    assert "b answers 25 % of the requests for a; words: sum, bill" in shown
    assert "Requests for a b nobody a 9 3 1 b 0 12 1" in shown
    with pytest.raises(InvalidArgumentsError, match="not what prowess eval ablate --json prints"):
        read_ablation({"units": [{"path": 1}]})
    with pytest.raises(InvalidArgumentsError, match="not what prowess eval triggers --together --json prints"):
        read_triggers({"results": []})


def test_transcripts_unfold_and_their_answer_is_kept() -> None:
    report = sample()
    page = report_page(report, PageExtras(transcripts={unit.id: transcript(7) for unit in report.units}))
    assert page.count("<details>") == 100
    shown = words(page)
    assert "Read file_path: invoices/7.csv" in shown
    assert shown.count("The sum of invoice 7 is 119.00") == 100


def test_a_page_of_500_runs_has_at_most_300_kilobytes() -> None:
    report = sample(25, 10)
    assert len(report.units) == 500
    page = report_page(report, PageExtras(transcripts={unit.id: transcript(1, 300) for unit in report.units}))
    assert page.count("<details>") == 500
    assert page.count("The sum of invoice 1") > 400
    assert len(page.encode()) <= 300 * KILOBYTE


@pytest.mark.parametrize(("runs", "evals"), [(500, 500), (3000, 30)])
def test_foreign_text_adds_no_markup_and_has_a_limit(runs: int, evals: int) -> None:
    report = hostile(runs, evals=evals)
    part = {"path": HOSTILE, "line": 1, "text": HOSTILE * 20, "verdict": "needed"}
    ablation = read_ablation({"units": [part] * 400})
    extras = PageExtras(ablation=ablation, transcripts={unit.id: hostile_transcript() for unit in report.units[:500]})
    page = report_page(report, extras)
    assert len(page.encode()) <= 300 * KILOBYTE
    found = Elements(page)
    assert not found.names & {"script", "img", "iframe", "object", "a", "base", "form", "link"}
    assert not {
        name for name in found.attributes if name.startswith("on") or name in ("src", "href", "srcdoc", "style")
    }
    assert page.count("<style>") == page.count("</style>") == 1
    assert not re.search("[\0-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", page)
    assert "49" not in re.findall(r"\{\{(.{0,5})", page)
    assert r"\x1b[31m\u202e\ud800" in page


def test_the_policy_permits_the_style_of_the_page_and_nothing_else() -> None:
    page = report_page(sample())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    expected = r"default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'"
    assert re.fullmatch(expected, unescape(policy[1]))


@pytest.mark.parametrize("delta", [1e308, -1e308, 7.5])
def test_a_change_that_is_no_share_is_not_told_as_points(delta: float) -> None:
    view = read_ablation({"units": [{"path": "SKILL.md", "line": 1, "text": "t", "verdict": "needed", "delta": delta}]})
    assert view.files[0].parts[0].told == "needed"
