"""The outline shows simple commands where the grammar sees nothing else, and nothing at all where it does."""

from __future__ import annotations

import pytest

from prowess._internal.shell.syntax_tree import ShellOutline, outline


def test_words_targets_and_separators_have_their_bytes() -> None:
    assert outline("git é 'b c' 2>&1 d | head # x\nls;".encode()) == ShellOutline(
        commands=[[(0, 3), (4, 6), (7, 12), (18, 19)], [(22, 26)], [(31, 33)]],
        redirections=[(16, 17)],
        separators=[(20, 21), (33, 34)],
    )


@pytest.mark.parametrize(
    "line",
    [
        *("git >$x", 'git >"$x"', "git > >(x)", 'git "$x"', "git a$(b)c", "git <<x\nx\n", "git <<<x", "git >&-"),
        *("a=b", "a=b c", "(a)", "{ a; }", "a &", "! a", "if a; then b; fi", "[ a ]", "[[ a ]]", "((a))", "a 'b"),
        *("a() { b; }", "export a", "unset a", "case a in b) c;; esac", "for a in b; do c; done", "a $'b'"),
        *("$x y", "a ("),
    ],
)  # fmt: skip
def test_what_is_no_simple_command_has_no_outline(line: str) -> None:
    assert outline(line.encode()) is None
