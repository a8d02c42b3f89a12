"""Prove, compile and compare: `make proof`.

python -m tools.proof            all of it, and write the figures into docs/reference/proof.md
python -m tools.proof --check    all of it; exit 1 also where docs/reference/proof.md states other figures
python -m tools.proof --only names --no-verify
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.proof import comparison, dafny, page
from tools.proof.dafny_text import taken_for_granted, texts
from tools.wrap_pages import wrapped

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "proof.md"


def main(arguments: list[str] | None = None) -> int:
    """Return 0 where everything is proved and nothing differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.proof", description="Verify formal/ and compare it with our code."
    )
    parser.add_argument("--formal", type=Path, default=ROOT / "formal", help="where the Dafny text is")
    parser.add_argument("--only", nargs="+", default=[], choices=[one.name for one in comparison.SUBJECTS])
    parser.add_argument("--no-verify", action="store_true", help="compile and compare alone")
    parser.add_argument(
        "--check", action="store_true", help="compare docs/reference/proof.md with the figures, and write nothing"
    )
    options = parser.parse_args(arguments)
    written = texts(options.formal)
    if assumed := [f"{name}, {sentence}" for name, text in written.items() for sentence in taken_for_granted(text)]:
        return _failed("something is taken for granted", assumed)
    print(f"stated    {page.stated(written)}")
    if absent := dafny.missing():
        return _failed(f"{', '.join(absent)} not found", ["install Debian's package dafny, which brings all of them"])
    try:
        verified = 0
        if not options.no_verify:
            verdict = dafny.verify([options.formal / name for name in written])
            if not verdict.holds:
                return _failed(
                    f"{verdict.errors} of {verdict.errors + verdict.verified} are not proved", verdict.sentences
                )
            verified = verdict.verified
            print(f"verified  {verified} proof tasks, 0 errors")
        with dafny.Model(options.formal) as model:
            outcomes = comparison.compare(model, options.only)
    except dafny.ProofError as fault:
        return _failed(str(fault), [])
    return _compared(outcomes) or (_page(written, verified, outcomes, check=options.check) if _is_whole(options) else 0)


def _is_whole(options: argparse.Namespace) -> bool:
    return not options.only and not options.no_verify and options.formal == ROOT / "formal"


def _compared(outcomes: list[comparison.Outcome]) -> int:
    for outcome in outcomes:
        print(f"compared  {outcome.subject.name:12} {outcome.inputs:7} inputs, {outcome.differences} differences")
    print(f"compared  {'all':12} {sum(outcome.inputs for outcome in outcomes):7} inputs")
    if different := [outcome for outcome in outcomes if outcome.differences]:
        return _failed("the model and our code differ", [line for outcome in different for line in outcome.first])
    return 0


def _page(written: dict[str, str], verified: int, outcomes: list[comparison.Outcome], *, check: bool) -> int:
    old = PAGE.read_text(encoding="utf-8")
    new = wrapped(page.replaced(old, page.figures(written, verified, outcomes)))
    if check and new != old:
        return _failed("docs/reference/proof.md states other figures", ["run make proof and commit the page"])
    if new != old:
        PAGE.write_text(new, encoding="utf-8")
        print("written   docs/reference/proof.md")
    return 0


def _failed(what: str, sentences: list[str] | tuple[str, ...]) -> int:
    print(f"FAILED    {what}", *(f"          {sentence}" for sentence in sentences), sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
