"""Who answers whose requests: the matrix of several skills that are installed together, and its shadows.

A skill is shadowed by another one if the other answers requests for it, and it does not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.catalog.matching.stems import stem
from prowess.catalog.matching.words import asked_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.evals.verdicts.verdict import VerdictName

_HALF = 0.5
_MOST_WORDS = 5
_LEAST_AFTER = 2  # requests that a further word is in; the loss of a single one may be chance


class AnsweredRequest(Struct, frozen=True, kw_only=True):
    """A request for one skill, and the verdicts on every skill in each of its runs."""

    skill: str
    query: str
    runs: tuple[Mapping[str, VerdictName], ...]


class AnswerRow(Struct, frozen=True, kw_only=True):
    """The requests for one skill: how many runs of them count, and in how many of these each skill answered.

    A run may have several answers; `nobody` counts the runs without one.
    """

    skill: str
    requests: int
    runs: int
    answers: dict[str, int]
    nobody: int


class Shadow(Struct, frozen=True, kw_only=True):
    """`shadowed_by` answers `lost` of the `requests` for `skill`, in at least half of their runs, in its place.

    `share` is lost / requests. `words` are in the lost requests and in the other skill's description, those that
    explain most first. `mutual` is true if both skills shadow each other.
    """

    skill: str
    shadowed_by: str
    lost: int
    requests: int
    share: float
    words: tuple[str, ...]
    mutual: bool = False


def answer_rows(requests: Sequence[AnsweredRequest], skills: Sequence[str]) -> tuple[AnswerRow, ...]:
    """Return one row for each skill."""
    return tuple(_row([one for one in requests if one.skill == skill], skill, skills) for skill in skills)


def _row(requests: Sequence[AnsweredRequest], skill: str, skills: Sequence[str]) -> AnswerRow:
    runs = [run for one in requests for run in _counting(one)]
    answers = {name: sum(run.get(name) == "triggered" for run in runs) for name in skills}
    nobody = sum("triggered" not in run.values() for run in runs)
    return AnswerRow(skill=skill, requests=len(requests), runs=len(runs), answers=answers, nobody=nobody)


def _counting(request: AnsweredRequest) -> list[Mapping[str, VerdictName]]:
    """Return the runs in which the skill itself was chosen or not, freely."""
    return [run for run in request.runs if run.get(request.skill) in ("triggered", "not_triggered")]


def shadows_of(requests: Sequence[AnsweredRequest], texts: Mapping[str, str]) -> tuple[Shadow, ...]:
    """Return the shadows, the largest first. `texts` are name and description of each skill."""
    by_skill: dict[str, list[AnsweredRequest]] = {skill: [] for skill in texts}
    for one in requests:
        if _counting(one):
            by_skill[one.skill].append(one)
    roots = {skill: _roots(text) for skill, text in texts.items()}
    found = [_shadow(own, other, roots) for own in by_skill.values() for other in _answering(own)]
    pairs = {(shadow.skill, shadow.shadowed_by) for shadow in found}
    marked = [replace(shadow, mutual=(shadow.shadowed_by, shadow.skill) in pairs) for shadow in found]
    return tuple(sorted(marked, key=lambda shadow: (-shadow.share, shadow.skill, shadow.shadowed_by)))


def _answering(own: Sequence[AnsweredRequest]) -> list[str]:
    """Return the skills that take at least one of the requests."""
    names = {name for one in own for run in _counting(one) for name, verdict in run.items() if verdict == "triggered"}
    return sorted(name for name in names if any(_is_lost(one, name) for one in own))


def _shadow(own: Sequence[AnsweredRequest], other: str, roots: Mapping[str, Mapping[str, str]]) -> Shadow:
    skill = own[0].skill
    lost = [one.query for one in own if _is_lost(one, other)]
    kept = [one.query for one in own if not _is_lost(one, other)]
    return Shadow(
        skill=skill,
        shadowed_by=other,
        lost=len(lost),
        requests=len(own),
        share=len(lost) / len(own),
        words=_causing(lost, kept, roots[skill], roots[other], roots),
    )


def _is_lost(request: AnsweredRequest, other: str) -> bool:
    runs = _counting(request)
    if other == request.skill:
        return False
    stolen = sum(run.get(other) == "triggered" and run[request.skill] != "triggered" for run in runs)
    return stolen >= _HALF * len(runs)


def _causing(
    lost: Sequence[str],
    kept: Sequence[str],
    own: Mapping[str, str],
    written: Mapping[str, str],
    roots: Mapping[str, Mapping[str, str]],
) -> tuple[str, ...]:
    """Return the words of lost requests for a skill that lead to another one, as the text of that one has them.

    A word explains by the share of the lost requests that have it, less the share of the kept ones; by half of that if
    the text of the skill itself (`own`) has it too. The best word comes first, with those that explain at least half as
    much; then the next best of the requests without these words. Of equal ones, the word that fewest of all texts
    (`roots`) have comes first.
    """
    having = Counter(root for one in roots.values() for root in one)
    waiting = [_roots(query).keys() & written.keys() for query in lost]
    others = Counter(root for query in kept for root in _roots(query).keys() & written.keys())
    found: list[str] = []
    while len(found) < _MOST_WORDS:
        inside = Counter(root for roots in waiting for root in roots)
        share = {root: count / len(lost) - others[root] / max(len(kept), 1) for root, count in inside.items()}
        explained = {root: part * _HALF if root in own else part for root, part in share.items() if part > 0}
        if not explained or (found and max(inside[root] for root in explained) < _LEAST_AFTER):
            break
        best = max(explained.values())
        good = [root for root, part in explained.items() if part >= best * _HALF]
        found += sorted(good, key=lambda root: (-explained[root], having[root], root))
        waiting = [roots for roots in waiting if roots.isdisjoint(good)]
    return tuple(written[root] for root in found[:_MOST_WORDS])


def _roots(text: str) -> dict[str, str]:
    """Return the stems of the words of a text, each with the word as it is written first."""
    found: dict[str, str] = {}
    for word, written in asked_words(text).items():
        found.setdefault(stem(word), written)
    return found
