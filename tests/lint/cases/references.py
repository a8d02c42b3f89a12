"""Cases of the rules on files that are named by path, and on what other Markdown files hold."""

from __future__ import annotations

from tests.lint.case import Case, beside, body

_LONG = "".join(f"## Part {number}\n" + "word\n" * 40 for number in range(4))

CASES = [
    Case(
        rule="reference.missingPath",
        bad=beside(
            body("Run `python scripts/grade.py`, then `scripts/run.py` and again scripts/grade.py."),
            scripts__run_py="x",
        ),
        good=(
            body("Run `scripts/grade.py`."),
            beside(body("Write `scripts/grade.py`, and name it (e.g. scripts/b.py)."), scripts__run_py="x"),
            beside(body("`scripts/<name>.py` scripts/*.py scripts/my-tool.py app/scripts/x.py"), scripts__run_py="x"),
            beside(body("<!-- scripts/later.py --> ${ROOT}/scripts/x.py"), scripts__run_py="x"),
            beside(body("It prints\n\n```text\nnever scripts/chart.py 6335\n```"), scripts__run_py="x"),
        ),
        says="scripts/grade.py does not exist",
        line=5,
    ),
    Case(
        rule="reference.deadLink",
        bad=beside(
            body("Read `references/a.md`."),
            references__a_md="x\n[b](b.md) [c](../../other/SKILL.md) [d](/docs/d.md) [a](a.md) [r](references/a.md)",
        ),
        good=(
            beside(
                body("x"),
                references__a_md="[w](https://e.org/x.md) [#](#top) [p](<name>.md) `[c](gone.md)` [v]({dir}/a.md)",
            ),
            beside(body("x"), references__template_md="[b](b.md)"),
            beside(body("x"), **{"skill-card_md": "[b](b.md)", "BENCHMARK_md": "[b](b.md)"}),
            beside(body("x"), assets__deep_md="[b](b.md)"),
        ),
        says="b.md does not exist",
        line=2,
        times=3,
    ),
    Case(
        rule="reference.deadLink",
        bad=beside(body("Read `references/a.md`."), references__a_md="[h](~/notes/b.md) [c](C:/b.md)"),
        good=(),
        says="is absolute; link to files relative to the skill's directory",
        line=1,
        times=2,
    ),
    Case(  # each file once, and what leads out of the skill together
        rule="reference.deadLink",
        bad=beside(
            body("Read `references/a.md`."),
            references__a_md="[b](b.md) [b](b.md#x)\n[c](c.md)\n[o](../../o/SKILL.md#y) [o](../../o/SKILL.md)"
            " [1](../../1.md) [2](../../2.md) [3](../../3.md) [4](../../4.md)",
        ),
        good=(),
        says="b.md does not exist",
        line=1,
        times=3,
    ),
    Case(
        rule="reference.chain",
        bad=beside(body("Read `references/a.md`."), references__a_md="See `references/b.md`.", references__b_md="x"),
        good=(
            beside(
                body("Read references/a.md. More is in `references/`."),
                references__a_md="See references/b.md.",
                references__b_md="x",
            ),
            beside(
                body("Read references/a.md, and b.md for more."),
                references__a_md="See references/b.md.",
                references__b_md="x",
            ),
        ),
        says="references/b.md is reached only through references/a.md",
        line=5,
    ),
    Case(
        rule="reference.case",
        bad=beside(body("Run `scripts/Run.py`."), scripts__run_py="x"),
        good=(beside(body("Run `scripts/run.py`."), scripts__run_py="x"),),
        says="scripts/Run.py is spelled scripts/run.py on disk",
    ),
    Case(
        rule="reference.depth",
        bad=beside(body("Read references/api/x.md, references/no/y.md."), references__api__x_md="x"),
        good=(beside(body("Read `references/x.md`."), references__x_md="x"),),
        says="references/api/x.md is in a directory below references/",
        line=5,
    ),
    Case(
        rule="reference.contents",
        bad=beside(body("Read `references/a.md`."), references__a_md=_LONG),
        good=(
            beside(body("x"), references__a_md="- Part 0\n- Part 1\n- Part 2\n" + _LONG),
            beside(body("x"), references__a_md="word\n" * 300),
            beside(body("Read `agents/a.md`."), agents__a_md=_LONG),
            beside(body("x"), references__a_md="ab part 0, part 1, part 2\n## `(x)`\n## (b)\n## [c](d)\n" + _LONG),
            beside(body("x"), references__a_md="# A\n\nOn part 0, part 1 and\npart 2 (and 3).\n" + _LONG),
            beside(body("x"), references__a_md="# A\n\nRead `## Part 0` and then Part 1, *Part 2*.\n" + _LONG),
            beside(body("x"), references__a_md="## Part\n" * 50 + "word\n" * 90),
            beside(body("x"), references__a_md="```sh\n" + "# comment\n" * 300 + "```\n"),
            beside(body("x"), notes_md=_LONG),
        ),
        says="references/a.md has more than 150 lines and no table of contents",
        line=1,
    ),
    Case(
        rule="body.unclosedFence",
        bad=beside(body("x"), references__a_md="````md\n```sh\nls\n```\n"),
        good=(
            beside(body("x"), references__a_md="````md\n```sh\nls\n````\n"),
            beside(body("x"), assets__deep_md="```\n"),
        ),
        says="this code block is never closed; add a closing fence",
        line=1,
    ),
    Case(
        rule="reference.orphan",
        bad=beside(body("x"), notes_md="x", scripts__deep_py="y", references__api_md="my-api.md", README_md="x"),
        good=(
            beside(body("Read `references/api-*.md` and notes.md."), notes_md="x", **{"references__api-a_md": "x"}),
            beside(body("Read `references/{lang}.md`."), references__go_md="x"),
            beside(body("Run `scripts/a.py`."), scripts__a_py="from core import one\n", scripts__core__one_py="x"),
            beside(body("See the `limits` reference."), references__limits_md="x"),
            beside(
                body("Run `scripts/a.py`."),
                scripts__a_py="for p in (here / 'assets').glob('*'): ...",
                assets__x_csv="y",
            ),
        ),
        says="notes.md is not mentioned in the skill",
        times=3,
    ),
]
