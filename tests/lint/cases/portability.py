"""Cases of the rules on what named hosts refuse, cut off or fill in."""

from __future__ import annotations

from tests.lint.case import Case, beside, body, front

CASES = [
    Case(
        rule="portability.homePath",
        bad=body("Open /Users/maria/report.md."),
        good=(
            body("Open /Users/you/report.md, /home/user/x, https://e.org/home/maria or ~/x."),
            body("A home such as `C:\\Users\\john.smith\\work` becomes ~/work."),
            body("The disk is mounted at /home/job_data/ and /home/job-runs/1."),
            body("```\nwrote /home/maria/out.log\n```"),
        ),
        says="/Users/maria exists on one machine alone",
        line=5,
    ),
    Case(
        rule="portability.homePath",
        bad=body("`/Users/mary-ann/x`\n\n```bash\ncp /home/maria/out.log .\n```"),
        good=(),
        says="/Users/mary-ann exists",
        line=5,
        times=2,
    ),
    Case(
        rule="portability.backslash",
        bad=beside(body(r"Run `python scripts\fill.py`."), scripts__fill_py="x"),
        good=(
            body("Run `python scripts/fill.py`."),
            beside(body(r"references\n"), references__a_md="x"),
            body(r'`<Content Include="assets\images\**" />`'),
        ),
        says="write a slash",
    ),
    Case(
        rule="portability.hostVariable",
        bad=body("Read {baseDir}/references/a.md."),
        good=(
            body("Read references/a.md."),
            body('```json\n{"command": "${CLAUDE_PLUGIN_ROOT}/hooks/check.sh"}\n```'),
        ),
        says="{baseDir}/ is filled in by one host alone; write the rest of the path",
    ),
    Case(
        rule="portability.hostVariable",
        bad=body('```json\n"${CLAUDE_PLUGIN_ROOT}/a"\n```\n\nRun `${CLAUDE_PLUGIN_ROOT}/scripts/a.sh`.'),
        good=(),
        says="put the file into the skill, and write its path there",
        line=9,
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
        good=(
            body("It costs \\$1.\n\n```sh\necho $HOME $5M\n```"),
            body("no dollar"),
            body("Move $0 to $1, all of $ARGUMENTS."),
        ),
        says="$1 is replaced by arguments",
        line=6,
    ),
    Case(
        rule="portability.positional",
        profile="claude-code",
        bad=body("Ask for a yes.\n\nIt costs $1,000 or `$B$2`."),
        good=(body(r"It costs \$1,000 and $5M.\n"),),
        says=r"$1 is replaced by arguments of the skill; write \$1 for a dollar sign",
        line=7,
    ),
    Case(
        rule="portability.positional",
        profile="claude-code",
        bad=body("Fix $0 for at most $1.50."),
        good=(body("Fix $0 for $1."), front("argument-hint: '[pr]'", "Fix $1 for $2.")),
        says="write \\$1",
    ),
    Case(
        rule="portability.firstArgument",
        bad=body("Review pull request $1 for `$2`."),
        good=(
            body("Review $0 for $1."),
            body("Review $ARGUMENTS[0] for $1."),
            body("It costs $1,000, $1.50, $1M, US$1 or \\$1; see $B$1."),
            body("It costs $1 or $20 a month."),
            body("Use `awk '{print $1}'`.\n\n```sh\nrun() { echo $1; }\n```"),
            body("```sh\necho $1\n```"),
            front("argument-hint: '[file]'", "```sh\nawk '{print $1}' $0\n```"),
            body("Review $ARGUMENTS."),
            body("<!-- $1 -->"),
        ),
        says="$1 is the second argument and $0, the first, is used nowhere: count from zero, or write \\$1",
        line=5,
    ),
    Case(
        rule="portability.firstArgument",
        bad=front("argument-hint: '[pr]'", "```sh\ngh pr view $1\n```"),
        good=(),
        says="$1 is the second argument",
    ),
    Case(
        rule="portability.firstArgument",
        bad=body("See $ARGUMENTS[1] of $ARGUMENTS."),
        good=(),
        says="$ARGUMENTS[1] is the second argument and $ARGUMENTS[0], the first,",
    ),
    Case(
        rule="portability.reservedName", name="claude-pdf", bad=body("x"), good=(), says="refuse a name with 'claude'"
    ),
    Case(
        rule="portability.hostCommand",
        bad=body("- Branch: !`git branch --show-current`\n- State: !`git status`"),
        good=(
            body("Run `git status`! Look!`git log` and !`word`.\n\n```\n!`git status -s`\n```"),
            body("Ready."),
        ),
        says="some hosts put the output of this command here",
        line=5,
    ),
    Case(
        rule="portability.backslash",
        bad=beside(body(r"See `references\_voice\a.md`."), references__a_md="x"),
        good=(beside(body(r"See references\_old."), references__a_md="x"),),
        says="write a slash",
    ),
]
