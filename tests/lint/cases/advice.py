"""Cases of the rules on fields, parts of the body, and places of files; some of them are a matter of taste."""

from __future__ import annotations

from tests.lint.case import Case, beside, body, front

_MANY = "word\n" * 60
_ALL = "# A\n\n## When to use\n\n## Example\n\n```\nx\n```\n\n## Edge cases\n" + _MANY
_TEMPLATE = "```md\n" + "line\n" * 45 + "```"


def _description(text: str) -> str:
    return f"description: {text}\n---\nbody\n"


CASES = [
    Case(rule="body.empty", bad=front("license: MIT", ""), good=(body("x"),), says="write instructions for the agent"),
    Case(
        rule="body.unclosedFence",
        bad=body("# A\n\n```sh\nls\n\n## B"),
        good=(body("```sh\nls\n```"), body("````\n```\n````"), body("~~~\nx\n~~~"), body("no ```code``` block")),
        says="never closed",
        line=7,
    ),
    Case(
        rule="body.unclosedFence",
        bad=body("```md\n# A\n\n```sh\nls\n```\n\nB\n```\n\n## C"),
        good=(),
        says="add a closing fence. If this fence was meant to close a block that contains fences, write four backticks",
        line=13,
    ),
    Case(
        rule="content.placeholder",
        bad=body("- TODO: describe it\n\n[TODO later]\n\nLorem ipsum dolor sit amet"),
        good=(
            body("Finds TODO: comments in code.\n\n    TODO: x"),
            body("`[TODO]`"),
            body("- **Lorem ipsum.** Replace it by real copy."),
        ),
        line=5,
        times=3,
    ),
    Case(
        rule="description.purpose",
        bad=_description("Use when a file is uploaded. Use when it is large."),
        good=(
            _description("Reads files. Use when one is uploaded."),
            _description("Use when one is uploaded - reads it and lists its tables."),
            _description("Use when one is uploaded \u2014 before any edit; checks the result first."),
        ),
        says="not what it does",
    ),
    Case(
        rule="description.purpose",
        bad=_description("Use when formatting content \u2014 posts, letters or notes."),
        good=(),
        says="not what it does",
    ),
    Case(
        rule="description.keywords",
        bad=_description("Helps with PDFs."),
        good=(_description("Extracts tables and fills forms."), _description("提取表格")),
        says="no words beyond the name",
    ),
    Case(
        rule="description.budget",
        bad=_description("word " * 90),
        good=(_description("word " * 40),),
        says="tokens (characters / 4)",
    ),
    Case(rule="license.long", bad=front(f"license: {'word ' * 60}"), good=(front("license: MIT"),), line=4),
    Case(
        rule="license.missing",
        bad=front("license: Proprietary. LICENSE.txt has the terms"),
        good=(
            beside(front("license: See LICENSE.txt"), LICENSE_txt="x"),
            front("license: https://e.org/LICENSE.txt"),
            front(f"license: {'LICENSE.txt ' * 60}"),
        ),
        says="LICENSE.txt, which does not exist in the skill; add the file",
    ),
    Case(
        rule="compatibility.vague",
        bad=front("compatibility: Works with all agents."),
        good=(
            front("compatibility: Requires git"),
            body("x"),
            front("compatibility: Works with any agent. The bundled script needs Python 3.9+ and jq."),
            front("compatibility: Works with any Kubernetes 1.x cluster"),
        ),
        says="name one or remove the field",
    ),
    Case(
        rule="compatibility.vague",
        bad=front("compatibility: Compatible with any agent; requires no network."),
        good=(),
        says="name one or remove the field",
    ),
    Case(
        rule="metadata.version", bad=body("x"), good=(front('metadata:\n  version: "1.0.0"'),), says='version: "1.0.0"'
    ),
    Case(
        rule="metadata.prefix",
        bad=front("metadata:\n  type: tool"),
        good=(front("metadata:\n  acme-type: tool"), body("x")),
        says="give it a prefix",
    ),
    Case(rule="body.whenToUse", bad=body(_MANY), good=(body(_ALL), body("x")), says="does not state when to use"),
    Case(rule="body.examples", bad=body(_MANY), good=(body(_ALL), body("x")), says="show an input"),
    Case(
        rule="body.edgeCases",
        bad=body(_MANY),
        good=(body(_ALL), beside(body(f"[t](t.md)\n{_MANY}"), t_md="# Troubleshooting")),
        says="Troubleshooting",
    ),
    Case(rule="body.structure", bad=body(_MANY), good=(body(_ALL), body(f"- a\n\n{_MANY}")), says="structure"),
    Case(
        rule="body.steps",
        bad=body("First open it, then read it, finally close it."),
        good=(body("1. First open\n2. then read\n3. finally close"), body("First open it.")),
        says="numbered list",
    ),
    Case(
        rule="body.boilerplate",
        bad=body("# A\n\n## Changelog\n"),
        good=(body("# A\n\nReads a changelog."),),
        says='a section "changelog" is for people',
        line=7,
    ),
    Case(
        rule="body.boilerplate",
        bad=body("Copyright by all.\n\nPermission is hereby granted, free of charge, to any person"),
        good=(),
        says="the text of a licence is for people",
        line=7,
    ),
    Case(
        rule="reference.when",
        bad=body("- [forms](references/forms.md)"),
        good=(body("When it is signed read [forms](references/forms.md)"), body("[run](run.py)")),
        says="the link does not state when to read references/forms.md",
        line=5,
    ),
    Case(rule="name.generic", name="doc-helper", bad=body("x"), good=(), says="fits any skill", line=2),
    Case(
        rule="body.commands",
        bad=body("```sh\n" + "ls\n" * 20 + "```"),
        good=(body("```sh\nls\n```"), body("```py\n" + "x\n" * 20 + "```")),
        says="20 lines of commands",
    ),
    Case(rule="body.templates", bad=body(_TEMPLATE), good=(body("```md\nx\n```"),), says="a template of 45 lines"),
    Case(
        rule="body.validationLoop",
        bad=body("Delete the rows, then deploy."),
        good=(body("Delete the rows, then verify."), body("Read the rows.")),
        says="without a check",
    ),
    Case(
        rule="body.scope",
        bad=_description("Reads tables; sends mails; plans trips; books rooms"),
        good=(body("x"),),
        says="a skill of each",
    ),
    Case(
        rule="directory.placement",
        bad=beside(body("x"), references__run_py="x", scripts__guide_md="x"),
        good=(beside(body("x"), references__a_md="x", scripts__run_py="x"),),
        says="references/run.py belongs in scripts/",
        times=2,
    ),
    Case(
        rule="scripts.guard",
        bad=beside(body("x"), scripts__a_py="import shutil\nshutil.rmtree('x')\n"),
        good=(beside(body("x"), scripts__a_py="# --dry-run\nshutil.rmtree('x')\n"),),
        says="add --dry-run",
        line=2,
    ),
    Case(
        rule="scripts.lineBreaks",
        bad=beside(body("x"), scripts__a_sh="#!/bin/sh\r\nls\r\n", bin__b_bash="ls\r\n", c_sh="a\r\nb\n"),
        good=(
            beside(body("x"), scripts__a_sh="#!/bin/sh\nls\n"),
            beside(body("x"), scripts__a_py="print()\r\n", scripts__b_bat="@dir\r\n", assets__c_txt="x\r\n"),
            beside(body("x\r\n"), references__a_md="x\r\n"),
        ),
        says="ends its lines with CRLF, and the shell takes the CR for a character; write LF",
        times=3,
    ),
    Case(
        rule="scripts.lineBreaks",
        bad=beside(body("x"), scripts__run_py="#!/usr/bin/env python3\r\nprint()\r\n"),
        good=(),
        says="the system, which looks for the program of `#!`, takes the CR for a character",
    ),
    Case(
        rule="scripts.lineBreaks",
        bad=beside(body("x"), scripts__a_sh="a\r\nb\nc\n"),
        good=(),
        says="scripts/a.sh ends 1 of its 3 lines with CRLF",
    ),
]
