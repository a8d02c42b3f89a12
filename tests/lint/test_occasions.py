"""A clause of occasion is known in the languages that people write skills in, and only where it is one."""

from __future__ import annotations

import pytest

from prowess.lint.rules.description_quality import states_occasion


@pytest.mark.parametrize(
    "description",
    [
        "Extracts tables. Use when asked for tables.",
        "Use this for scanned invoices.",
        "Use PROACTIVELY for malware triage.",
        "Use: isolation, before implementation.",
        "Use periodically, after granting permissions.",
        "Use pdf-tables for anything scanned.",
        "Read this before writing more than a few lines.",
        "Best used during a cleanup.",
        "Only activate in a build context.",
        "User wants to archive a channel.",
        "Extrai tabelas. Use quando houver um PDF.",
        "提取表格。当用户需要时使用。",
        "开发分支完成时检查、清理",
        "每日自动整理文件",
        "表を抽出する。請求書を読むときに使用。",
        "PDF에서 표를 추출할 때 사용",
        "ترجمة النصوص",
        "Тексты: если нужен перевод",
    ],
)
def test_an_occasion_is_found(description: str) -> None:
    assert states_occasion(description, "pdf-tables")


@pytest.mark.parametrize(
    "description",
    [
        "Extracts tables from PDF files.",
        "Reads files. Use the filesystem server for operations.",
        "Shares skills using Rube for seamless collaboration.",
        "Read rows from a sheet and create events for each.",
        "Best practices for tables.",
        "Sorts tables. Do not use for images.",
        "Sorts — swiftly.",
        "Sorts. For plans of a case use pdf-case.",
        "提取表格",
        "使用接口识别图片，实时输出，节省时间",
        "表の抽出と整形",
    ],
)
def test_what_a_skill_does_is_no_occasion(description: str) -> None:
    assert not states_occasion(description, "pdf-tables")


def test_a_long_row_of_words_of_use_is_read_once() -> None:
    assert not states_occasion("use this " * 50_000, "this-one")
