"""Which queries name a skill, and which only have its words."""

from __future__ import annotations

import pytest

from prowess.evals.verdicts.skill_names import is_twin, names_skill, same_skill

NAMES = [
    ("/pdf make it smaller", "pdf"),
    ("please /pdf", "pdf"),
    ("Use $pdf.", "pdf"),
    ("@pdf split it", "pdf"),
    ("(@pdf) split it", "pdf"),
    ("/office:pdf a.pdf", "pdf"),
    ("/office:pdf a.pdf", "office:pdf"),
    ("Use the pdf skill", "pdf"),
    ("Use the PDF Skill.", "pdf"),
    ("use your `pdf` skill", "pdf"),
    ('use the "pdf" skill', "pdf"),
    ("use the **pdf** skill", "pdf"),
    ("use the pdf\nskill", "pdf"),
    ("with skill pdf", "pdf"),
    ("with skill: pdf", "pdf"),
    ("with skill 'pdf'", "pdf"),
    ("Do it with csv-report", "csv-report"),
    ("CSV-Report, please", "csv-report"),
    ("csv-report: the sales", "csv-report"),
    ("the csv report skill", "csv-report"),
    ("the csv_report skill", "csv-report"),
    ("see packages/csv-report/index.js", "csv-report"),
    ("look at .claude/skills/pdf/SKILL.md", "pdf"),
    ("@.claude/skills/pdf/SKILL.md", "pdf"),
    ("nutze den Skill Straße", "strasse"),
    ("\uff43\uff53\uff56-report", "csv-report"),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("(/N) now", '"/N" for May', "First.\n/N", "`/N`", "**/N**")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("/N?", "/N: may", "\uff20N go", "\uff0fN go", "ask @N.")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("the N\r\nskill", "Skill\nN", "skill (N)", "the “N” skill")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("a N skill's help", "the _N_ skill", "skill=N", "the <N> skill")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("the N\u00a0skill", "skill office:N", "<c>/N</c>", "the /N skill")
    ),
    *(
        (text.replace("N", "csv-report"), "csv-report")
        for text in ("_N_", "__N__", "N.", "https://x.y/N", "a/N.md", "“N”", "#N")
    ),
    ("the office:invoices skill", "office:invoices"),
    ("do it with office:csv-report", "office:csv-report"),
]
FREE = [
    ("Make the pdf smaller", "pdf"),
    ("read report.pdf", "pdf"),
    ("open /tmp/pdf/a.txt", "pdf"),
    ("open /pdf/a.txt", "pdf"),
    ("open /pdf.txt", "pdf"),
    ("see https://example.com/pdf", "pdf"),
    ("mail ann@pdf.example", "pdf"),
    ("costs 5$pdf", "pdf"),
    ("improve my pdf skills", "pdf"),
    ("a skilled pdf reader", "pdf"),
    ("what skill do I need for a pdf?", "pdf"),
    ("the pdfs skill", "pdf"),
    ("the mypdf skill", "pdf"),
    ("the my-pdf skill", "pdf"),
    ("/pdf-tools a.pdf", "pdf"),
    ("$pdf_path is set", "pdf"),
    ("a csv report of the sales", "csv-report"),
    ("my-csv-report", "csv-report"),
    ("csv-report-2", "csv-report"),
    ("csv-reports", "csv-report"),
    ("skills/pdf/README.md", "pdf"),
    ("", "pdf"),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("C:/N is full", '"D:/N"', "./N", "../N/", "~/N", "/home/N")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("https://x.y/a?b=/N", "https://x.y/#/N", "https://x.y/?q=@N")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("http://h:80/N", "file:///N", "s3://b/N", "GET /N/", "/N/")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("/N?x=1", "/N#top", "src/*/N", "{id}/N", "$(pwd)/N", "[id]/N")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("%TEMP%/N", "//N", "\\N", "${N}", "$N.total", "US$N", "$ N")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("@N/core", "@N.md", "@ N", "skills: N", "N. Skill up", "N skillset")
    ),
    *(
        (text.replace("N", "invoices"), "invoices")
        for text in ("the reN skill", "the N2 skill", "the notes skill for N")
    ),
    *((text.replace("N", "csv-report"), "csv-report") for text in ("Ning", "xN", "N_2", "_N", "N_x_")),
    *((text, "csv-report") for text in ("csv -report", "csv--report", "csv_report")),
    *((text, "office:invoices") for text in ("/other:invoices a", "the other:invoices skill", "skill other:invoices")),
    ("other:csv-report", "office:csv-report"),
]


@pytest.mark.parametrize(("query", "skill"), NAMES)
def test_a_query_names_the_skill(query: str, skill: str) -> None:
    assert names_skill(query, skill) is not None


@pytest.mark.parametrize(("query", "skill"), FREE)
def test_a_query_leaves_the_choice_free(query: str, skill: str) -> None:
    assert names_skill(query, skill) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pdf", "pdf", True),
        ("pdf", "office:pdf", True),
        ("office:pdf", "office:pdf", True),
        ("a:pdf", "b:pdf", False),
        ("pdf", "pdf-tools", False),
        ("pdf", "office:pdf-tools", False),
        ("PDF", "pdf", True),
        ("\uff50\uff44\uff46", "pdf", True),  # wide letters, which NFKC folds
        ("office:\uff50\uff44\uff46", "pdf", True),
    ],
)
def test_two_names_are_one_skill_or_two(one: str, other: str, *, same: bool) -> None:
    assert same_skill(one, other) is same_skill(other, one) is same


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("pdf-0a1b2c", True),
        ("pdf-skill-0a1b2c3d", True),
        ("office:pdf-0a1b2c", True),
        ("PDF-0A1B2C", True),
        ("pdf", False),
        ("pdf-0a1b2", False),
        ("pdf-skill", False),
        ("pdf-skill-tools", False),
        ("pdf_0a1b2c", False),
        ("pdf-0a1b2c-x", False),
        ("my-pdf-0a1b2c", False),
    ],
)
def test_a_made_up_name_is_a_twin(name: str, *, twin: bool) -> None:
    assert is_twin(name, "pdf") is twin
