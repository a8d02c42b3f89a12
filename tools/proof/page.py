"""The counted part of `docs/reference/proof.md`: how much is stated, what was compared, and by how many inputs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tools.proof.comparison import SUBJECTS
from tools.proof.dafny_text import declarations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tools.proof.comparison import Outcome

BEGIN = "<!-- figures: written by `make proof` -->"
END = "<!-- end of figures -->"


def counts(texts: Mapping[str, str]) -> Counter[str]:
    """Return how many lemmas, predicates, functions and methods the files have."""
    return Counter(one.kind for text in texts.values() for one in declarations(text))


def stated(texts: Mapping[str, str]) -> str:
    """Return the sentence that needs no Dafny to be checked."""
    found = counts(texts)
    return (
        f"{found['lemma']} lemmas, {found['predicate']} predicates, {found['function']} functions and "
        f"{found['method']} methods in {len(texts)} files."
    )


def correspondence() -> str:
    """Return the table of predicates and the code that answers the same question."""
    rows = [
        f"| {subject.name} | {_code(subject.predicates)} | {_code(subject.python.split(', '))} |"
        for subject in SUBJECTS
    ]
    return "\n".join(["| subject | of the model | of Prowess |", "|---|---|---|", *rows])


def figures(texts: Mapping[str, str], verified: int, outcomes: Sequence[Outcome]) -> str:
    """Return the whole part, with its marks."""
    total = sum(outcome.inputs for outcome in outcomes)
    rows = [f"| {one.subject.name} | {_grouped(one.inputs)} | {one.differences} |" for one in outcomes]
    table = ["| subject | inputs | differences |", "|---|---:|---:|", *rows]
    said = (
        stated(texts),
        f"Dafny verified {verified} proof tasks, with 0 errors.",
        f"The compiled model and Prowess were given {_grouped(total)} inputs.",
    )
    return "\n".join([BEGIN, "", *said, "", *table, "", correspondence(), "", END])


def replaced(page: str, part: str) -> str:
    """Return the page with `part` in the place of the old figures.

    Raises:
        ValueError: the page has lost its marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"the page has no part between {BEGIN!r} and {END!r}"
        raise ValueError(message)
    return before + part + after


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _code(names: Sequence[str]) -> str:
    return " ".join(f"`{name}`" for name in names)
