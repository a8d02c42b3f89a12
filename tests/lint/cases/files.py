"""Cases of the rules on references and scripts."""

from __future__ import annotations

from tests.lint.case import Case, beside, body, front

_LONG = "# A\n" + "## B\nword\n## C\nword\n" * 40
_RUN = body("Run `scripts/run.py`.")
_SHELL = body("Run `scripts/run.sh`.")

CASES = [
    Case(
        rule="reference.chain",
        bad=beside(
            body("[a](references/a.md)"), references__a_md="[b](b.md) [c](https://e.org/c.md)", references__b_md="x"
        ),
        good=(
            beside(
                body("[a](references/a.md) [b](references/b.md)"), references__a_md="[b](b.md)", references__b_md="x"
            ),
            beside(body("[a](references/a.md)"), references__a_md="[b](gone.md) [s](../SKILL.md)"),
        ),
        says="references/b.md is reached only through references/a.md",
        line=5,
    ),
    Case(
        rule="reference.orphan",
        bad=beside(body("Nothing."), references__limits_md="x", scripts____init___py=""),
        good=(
            beside(body("Read `limits.md`."), references__limits_md="x"),
            beside(body("Run `scripts/a.py`."), scripts__a_py="import b", scripts__b_py="x = 1"),
            beside(body("Look into `references/`."), references__limits_md="x"),
            beside(body("Fonts lie in assets/fonts/."), assets__fonts__a_ttf="x"),
        ),
        says="references/limits.md is not mentioned in the skill",
    ),
    Case(
        rule="reference.contents",
        profile="claude-code",
        bad=beside(body("[a](references/a.md)"), references__a_md=_LONG),
        good=(
            beside(body("[a](references/a.md)"), references__a_md="## Contents\n" + _LONG),
            beside(body("[a](references/a.md)"), references__a_md="short"),
        ),
        says="references/a.md has more than 150 lines",
        line=1,
    ),
    Case(
        rule="reference.large",
        bad=beside(body("[a](references/a.md)"), references__a_md="word " * 7000),
        good=(beside(body("[a](references/a.md)"), references__a_md="word " * 3000),),
        says="tokens (pieces of text); split it",
    ),
    Case(
        rule="scripts.prompt",
        bad=beside(_RUN, scripts__run_py='import os\n\nname = input("Which file? ")\n'),
        good=(
            beside(_RUN, scripts__run_py="# input() is for people\nget_input(1)\n"),
            beside(_RUN, scripts__run_py="if sys.stdin.isatty():\n    name = input()\n"),
            beside(_SHELL, scripts__run_sh="echo 'read -p asks'\n"),
            beside(_RUN, scripts__run_py="CODE = '''\nname = input()\n'''\n"),
            beside(_RUN, scripts__run_py="# --interactive asks\nname = input()\n"),
            beside(_SHELL, scripts__run_sh='case $1 in\n-y) yes=1 ;;\nesac\nread -p "Sure? " x\n'),
        ),
        says="scripts/run.py asks with input(",
        line=3,
    ),
    Case(rule="scripts.prompt", bad=beside(_SHELL, scripts__run_sh="read -p 'Sure? ' x\n"), good=(), says="read -p"),
    Case(rule="scripts.prompt", bad=beside(body("x"), scripts__a_js="rl.question('x')\n"), good=(), says=".question("),
    Case(
        rule="scripts.help",
        bad=beside(_RUN, scripts__run_py="import sys\nprint(sys.argv[1])\n"),
        good=(
            beside(_RUN, scripts__run_py="import argparse\nsys.argv[1]\n"),
            beside(_RUN, scripts__run_py="print(1)\n"),
            beside(_SHELL, scripts__run_sh='# Usage: run.sh FILE\ncat "$1"\n'),
            beside(_RUN, scripts__run_py="import sys\nprint('用法:', sys.argv[1])\n"),
            beside(_RUN, scripts__run_py="import sys\nprint(sys.argv[0])\nCODE = 'sys.argv[1]'  # sys.argv[1]\n"),
            beside(_RUN, scripts__run_py="print(sys.argv[0])\nx = (\n"),
            beside(_RUN, scripts__test_run_py="import sys\nprint(sys.argv[1])\n"),
            beside(_SHELL, scripts__run_sh='say() { echo "$1"; }\nsay_all() {\n  echo "$@"\n}\nsay a\n'),
            beside(_SHELL, scripts__run_sh='all() { ls "$@"; }\nmain() {\n  all a\n}\nmain "$@"\n'),
        ),
        says="has no --help",
        line=2,
    ),
    Case(
        rule="scripts.help",
        bad=beside(_SHELL, scripts__run_sh='main() {\n  cat "$1"\n}\n\nmain "$@"\n'),
        good=(),
        says="scripts/run.sh takes arguments",
        line=5,
    ),
    Case(
        rule="scripts.help",
        bad=beside(_SHELL, scripts__run_sh='say() { echo "$1"; }\nsay a\ncat "${1:-x}"\n'),
        good=(),
        says="scripts/run.sh takes arguments",
        line=3,
    ),
    Case(
        rule="scripts.errors",
        bad=beside(_RUN, scripts__run_py="try:\n    run()\nexcept Exception:\n    pass\n"),
        good=(
            beside(_RUN, scripts__run_py="try:\n    run()\nexcept Exception:\n    raise\n"),
            beside(_RUN, scripts__run_py="try:\n    run()\nexcept Exception:\n    pass  # no such field\n"),
            beside(_RUN, scripts__run_py="try:\n    run()\nexcept Exception:  # none\n    pass"),
            beside(_SHELL, scripts__run_sh="set -e\n" + "ls\n" * 20),
            beside(_SHELL, scripts__run_sh="ls\n"),
        ),
        says="scripts/run.py swallows every error",
        line=3,
    ),
    Case(
        rule="scripts.errors",
        bad=beside(_SHELL, scripts__run_sh="ls\n" * 20),
        good=(),
        says="begin with set -e",
    ),
    Case(
        rule="scripts.dependencies",
        bad=beside(_RUN, scripts__run_py="import os\nimport numpy as np\n"),
        good=(
            beside(_RUN, scripts__run_py="# /// script\n# dependencies = ['numpy']\n# ///\nimport numpy\n"),
            beside(_RUN, scripts__run_py="import numpy\n", requirements_txt="numpy"),
            beside(body("Needs numpy. Run `scripts/run.py`."), scripts__run_py="import numpy\n"),
            beside(front("compatibility: Requires NumPy"), scripts__run_py="import numpy\n"),
            beside(_RUN, scripts__run_py="import json\n"),
            beside(_RUN, scripts__run_py="import numpy\n", references__install_md="pip install numpy"),
            beside(_RUN, scripts__run_py="# pip install numpy\nimport numpy\n"),
            beside(_RUN, scripts__run_py="CODE = '''\nimport numpy\n'''\n"),
        ),
        says="imports numpy, which is not declared",
        line=2,
    ),
    Case(
        rule="scripts.streams",
        bad=beside(_RUN, scripts__run_py='import sys\n\nif not x:\n    print(f"Error: no {x}")\n    sys.exit(1)\n'),
        good=(
            beside(_RUN, scripts__run_py='print("Error: x", file=sys.stderr)\nsys.exit(1)\n'),
            beside(_RUN, scripts__run_py='print("Error: x")\nsys.exit(0)\n'),
            beside(_RUN, scripts__run_py='print("Errors: 0")\nprint("Error rate")\nx = 1\n'),
            beside(_SHELL, scripts__run_sh='echo "Error: x" >&2\nexit 1\n'),
        ),
        says="scripts/run.py prints an error to standard output",
        line=4,
    ),
    Case(
        rule="scripts.streams",
        bad=beside(_SHELL, scripts__run_sh='if true; then\n  echo "Error: x"\n  exit 2\nfi\n'),
        good=(),
        says="scripts/run.sh prints",
        line=2,
    ),
    Case(
        rule="scripts.unpinned",
        bad=body(
            "```sh\nuvx ruff check .\nnpx -y @scope/tool@latest\ncat x | npx create-x\n```\nRun `uvx ruff check`.\n"
        ),
        good=(
            body("```sh\nuvx ruff@0.14.0 check\nnpx @scope/tool@1.0.0\npipx run ruff==0.14.0\ndeno run main.ts\n```"),
            body(
                "Never run `npx t@latest`.\n\n```sh\nnpx <package>\ngo run a.go\nuvx --from git+https://e.org/x y\n```"
            ),
            body(
                "```sh\n# npx -y tool\necho uvx ruff\nnpx -y github:e/x\nnpx eslint .\nuvx $T\n```\nIt is `uvx ruff`."
            ),
        ),
        says="ruff is not pinned to a version, 2 times; write ruff@VERSION",
        line=6,
        times=3,
    ),
    Case(
        rule="scripts.unpinned",
        bad=beside(_SHELL, scripts__run_sh="set -e\npipx run ruff\ndeno run npm:cowsay hi\n"),
        good=(beside(_SHELL, scripts__run_sh="npx cowsay@1.6.0\n"),),
        says="ruff is not pinned to a version; write ruff@VERSION",
        times=2,
        line=2,
    ),
    Case(
        rule="scripts.projectVersion",
        bad=body(
            "If it is not there, run `npx eslint .`, then:\n\n```sh\n$ npx eslint --fix .\ngo run example.org/x\n```\n"
        ),
        good=(
            body(
                "```sh\nnpx eslint@9.17.0 .\ngo run example.org/x@v1.0\ngo run ./cmd\nnpx -p typescript@5.7.2 tsc\n```"
            ),
            body("Instead of `npx eslint .` call `npm run lint`."),
        ),
        says="eslint has no version, so it depends on the project; write eslint@VERSION",
        line=8,
        times=2,
    ),
]
