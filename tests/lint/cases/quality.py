"""Cases of the rules on the quality of instructions."""

from __future__ import annotations

from tests.lint.case import Case, beside, body

CASES = [
    Case(
        rule="context-budget",
        profile="skillscraft",
        bad=body("word\n" * 501),
        good=(body("word\n" * 498),),
        says="the body has 502 lines, at most 500 are advised; move guides into references/",
    ),
    Case(
        rule="context-budget",
        profile="skillscraft",
        bad=body("one two " * 2600),
        good=(body("one two " * 2400),),
        says="the body has about 52",
    ),
    Case(
        rule="description-quality",
        bad="description: Extracts tables from PDF files.\n---\n",
        good=(
            "description: Extracts tables. Use when asked for tables.\n---\n",
            "description: Extracts tables. Use this for scanned invoices.\n---\n",
            "description: Extrai tabelas. Use quando houver um PDF.\n---\n",
            "description: 提取表格。需要表格时使用。\n---\n",
            "name: x\n---\n",
        ),
        says='add "Use when the user asks to ..."',
        line=3,
    ),
    Case(
        rule="no-generic-instructions",
        bad=body("Run it.\n\nHANDLE errors appropriately. Follow best practices. Use proper error handling."),
        good=(
            body("`follow best practices`\n\n    handle errors appropriately\n\n<!-- follow best practices -->"),
            body('Never write "follow best practices".'),
            body("Follow best practices: one table a file."),
            body("# ClickHouse Best Practices\n\nThe warehouse best practices are in the table."),
            body("### Handle errors gracefully\n\nWait for Retry-After.\n\n- Handle errors gracefully with try/catch"),
        ),
        says="write the exact steps",
        line=7,
        times=3,
    ),
    Case(
        rule="progressive-disclosure",
        bad=body("word\n" * 199),
        good=(body("word\n" * 198), beside(body("word\n" * 300), references__more_md="x")),
        says="has 200 lines and no reference file; move detail into references/",
    ),
    Case(
        rule="defaults-over-menus",
        bad=body("You can use `pypdf`, `pdfplumber` or `PyMuPDF`."),
        good=(
            body("You can use pypdf, pdfplumber or PyMuPDF; pdfplumber is the default."),
            body("You can use pypdf or pdfplumber."),
            body("    you can use a, b or c"),
        ),
        says="name a default",
        line=5,
    ),
    Case(
        rule="gotchas-present",
        bad=body("word\n" * 50),
        good=(
            body("word\n" * 49),  # 50 lines
            body("# A\n\n## Gotchas\n" + "word\n" * 60),
            body("# A\n\nCaveats\n---\n" + "word\n" * 60),
        ),
        says="has 51 lines and no section on gotchas; add ## Gotchas",
    ),
]
