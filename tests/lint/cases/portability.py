"""Cases of the rules on what named hosts refuse, cut off or fill in."""

from __future__ import annotations

from tests.lint.case import Case, body, front

CASES = [
    Case(
        rule="portability.homePath",
        bad=body("Open /Users/maria/report.md."),
        good=(body("Open /Users/you/report.md, /home/user/x, https://e.org/home/maria or ~/x."),),
        says="/Users/maria exists on one machine alone",
        line=5,
    ),
    Case(
        rule="portability.backslash",
        bad=body(r"Run `python scripts\fill.py`."),
        good=(body("Run `python scripts/fill.py`."), body(r"references\n")),
        says="write a slash",
    ),
    Case(
        rule="portability.hostVariable",
        bad=body("Read {baseDir}/references/a.md."),
        good=(body("Read references/a.md."),),
        says="{baseDir}/ is filled in by one host alone",
    ),
    Case(
        rule="portability.angleBrackets",
        bad="description: Ports code to <service>. Use when asked.\n---\n",
        good=(body("a <b>"),),
        says="use words",
        line=3,
    ),
    Case(
        rule="portability.refusedKeys",
        bad=front("license: MIT"),
        good=(body("x"),),
        says="Factory refuses license",
        line=4,
    ),
    Case(
        rule="portability.listing",
        profile="claude-code",
        bad=front(f"when_to_use: {'word ' * 320}"),
        good=(front("when_to_use: Always."),),
        says="Claude Code shows 1536",
    ),
    Case(
        rule="portability.positional",
        profile="claude-code",
        bad=body("```sh\nawk '{print $1}' log\n```"),
        good=(body("It costs $1.\n\n```sh\necho $HOME\n```"), body("no dollar")),
        says="$1 is replaced by arguments",
        line=6,
    ),
    Case(
        rule="portability.reservedName", name="claude-pdf", bad=body("x"), good=(), says="refuse a name with 'claude'"
    ),
]
