"""A refusal teaches, no line costs much, and without a grammar nothing is permitted."""

from __future__ import annotations

import sys
import time

import pytest

from prowess._internal.shell import command_line, syntax_tree
from prowess._internal.shell.command_line import ShellParts, parse_command_line
from prowess._internal.shell.words import ShellRefusal

_MOST_SECONDS = 2.0  # a machine may be busy; without a bound on work these lines take minutes


def _argvs(line: str) -> list[tuple[str, ...]]:
    parts = parse_command_line(line)
    assert isinstance(parts, ShellParts), parts
    return [command.argv for command in parts.commands]


def _refusal(line: str) -> ShellRefusal:
    refusal = parse_command_line(line)
    assert isinstance(refusal, ShellRefusal), refusal
    return refusal


def test_a_line_becomes_argument_vectors_without_quotes() -> None:
    assert _argvs("git log -1 'a; b' 2>&1 | head -3 # all of it\n\nls \"x\"y\\ z") == [
        ("git", "log", "-1", "a; b"),
        ("head", "-3"),
        ("ls", "xy z"),
    ]


def test_a_word_that_bash_expands_says_so() -> None:
    parts = parse_command_line("git *.md '*.md' ~ a~ x=~ x:~ [a]")
    assert isinstance(parts, ShellParts)
    (command,) = parts.commands
    assert [word.text for word in command.words if word.expands] == ["*.md", "~", "x=~", "x:~", "[a]"]


@pytest.mark.parametrize(
    ("line", "construct", "words"),
    [
        ("git a & id", "background", "'&' runs a command in the background"),
        ("git $(id)", "substitution", "command or arithmetic substitution"),
        ("git `id`", "substitution", "'`' runs a command"),
        ('git "`id`"', "substitution", "inside double quotes too"),
        ("git $x", "substitution", "value of a variable"),
        ("git $'a'", "substitution", "begins a string with escapes"),
        ("git <(id)", "process-substitution", "'<(...)'"),
        ("git <<x", "heredoc", "here-document"),
        ("git <<<x", "heredoc", "here-string"),
        ("(git)", "subshell", "'(' opens or closes a subshell"),
        ("git > x", "redirection", "'>' writes a file"),
        ("git < x", "redirection", "'<' reads a file"),
        ("git 12>&1", "redirection", "one digit"),
        ("git {v}>&1", "redirection", "stores a descriptor in a variable"),
        ("git {a,b}", "braces", "expanded to several words"),
        ("git {a..c}", "braces", "expanded to several words"),
        ("git x{1..3}", "braces", "expanded to several words"),
        ("git {-3..3..2}", "braces", "expanded to several words"),
        ('git {a.."c"}', "braces", "expanded to several words"),
        ("git {a,'b'}", "braces", "expanded to several words"),
        ("if git", "keyword", "'if' is a word of the shell's own grammar"),
        ("A=b git", "assignment", "an assignment before a command"),
        ("eval git", "builtin", "'eval' runs commands from its arguments"),
        ("export A=b", "builtin", "'export' is a part of the shell"),
        ("test -v x", "builtin", "'test' is permitted only without -v"),
        ("printf %n x", "builtin", "'printf' is permitted only with a plain format"),
        ("* x", "name", "the program's name must be fixed text: '*' is expanded first"),
        ("-x", "name", "must begin with the name of a program"),
        ("cd x; ./y", "directory", "'./y' names another file"),
        ("git\fx", "control", "U+000C is not a blank in bash"),
        ("git\u00a0x", "control", "U+00A0 is not a blank in bash"),
        ("git \\\x01", "control", "U+0001 must not follow a backslash"),
        ("git\0", "control", "NUL"),
        ("git \ud800", "control", "not valid Unicode"),
        ("g\\\nit", "continuation", "needs a blank before it"),
        ("git 'x", "syntax", "a single quote is never closed"),
        ('git "x', "syntax", "a double quote is never closed"),
        ("git \\", "syntax", "escapes nothing"),
        ("git &&", "syntax", "a command is missing after '&&'"),
        ("; git", "syntax", "a command is missing before ';'"),
        ("git;; x", "syntax", "';;' belongs to a case statement"),
        ("git >", "syntax", "a target is missing after '>'"),
        ("", "empty", "nothing to run"),
        (">/dev/null", "empty", "needs a command"),
        ("git " + "x" * 65536, "length", "longer than 65536 bytes"),
        ("git " + "\u3042" * 22000, "length", "longer than 65536 bytes"),
        ("git" + " x" * 5000, "length", "more than 4096 words"),
        ("git;" * 257, "length", "more than 256 commands"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_refusal_names_the_construct_and_teaches(line: str, construct: str, words: str) -> None:
    refusal = _refusal(line)
    assert refusal.construct == construct
    assert words in refusal.reason


def test_without_the_grammar_every_line_is_refused_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    syntax_tree._parser.cache_clear()
    command_line._parse.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    try:
        refusal = _refusal("git status")
    finally:
        syntax_tree._parser.cache_clear()
        command_line._parse.cache_clear()
    assert refusal.construct == "grammar"
    assert "pip install 'prowess[shell]'" in refusal.reason


@pytest.mark.parametrize(
    "outline",
    [
        None,
        syntax_tree.ShellOutline(commands=[[(0, 3)], [(4, 10)]]),
        syntax_tree.ShellOutline(commands=[[(0, 3), (4, 9)]]),
        syntax_tree.ShellOutline(commands=[[(0, 3), (4, 10)]], redirections=[(4, 10)]),
        syntax_tree.ShellOutline(commands=[[(0, 3), (4, 10)]], separators=[(3, 4)]),
    ],
    ids=["no simple commands", "two commands", "a shorter word", "a redirection", "a separator"],
)
def test_two_readings_that_differ_refuse_the_line(
    outline: syntax_tree.ShellOutline | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "git status"
    command_line._parse.cache_clear()
    monkeypatch.setattr(command_line, "outline", lambda _: outline)
    try:
        assert _refusal(line).construct in {"syntax", "ambiguous"}
    finally:
        command_line._parse.cache_clear()
    monkeypatch.undo()
    assert _argvs(line) == [("git", "status")]


@pytest.mark.parametrize(
    "line",
    [
        "[ -f a ]",
        "git <> /dev/null",
        "declare a",
        "git\x0cx",
        "a=b",
        "$(x)",
        "a 'b",
        "if x; then y; fi",
        "x &",
        "f() { x; }",
    ],
)
def test_the_grammar_alone_does_not_let_these_pass(line: str) -> None:
    """What our own reading refuses, the outline refuses as well or shows as something else."""
    outline = syntax_tree.outline(line.encode())
    assert outline is None or [(0, len(line))] not in outline.commands


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "line",
    [
        "a;" * 32000, "a " * 32000, "a|" * 32000, "a\n" * 32000, "(" * 60000, "{" * 60000, "$(" * 30000, "`" * 60000,
        '"' * 60000, "'" * 60001, "\\" * 60000, "\\\n" * 30000, "<<a " * 15000, "a\\\n " * 15000, ">&1 " * 15000,
        "{a,b}" * 12000, "*" * 60000, "'a'" * 20000, "~" * 60000, "#" * 60000, "a " * 4000 + "'x", "\u3042" * 20000,
        "[" * 60000, "a " + "[a" * 30000,
    ],
    ids=lambda line: ascii(line[:6]),
)  # fmt: skip
def test_no_line_costs_much(line: str) -> None:
    begun = time.process_time()
    parse_command_line(line)
    assert time.process_time() - begun < _MOST_SECONDS
