"""Parse a command line with the grammar of tree-sitter-bash, limited to the few node kinds that are ever permitted.

The tree is a second opinion and is not sufficient by itself: the grammar treats form feeds as blanks, joins words that
a continuation separates, and attaches redirections to the wrong command. So only the outline is used (the positions of
the words of each command, of redirections and of separators), and `command_line` compares it byte for byte with its own
result. A node of an unlisted kind gives no outline.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from typing import TypeAlias

    from tree_sitter import Node, Parser

    SyntaxNode: TypeAlias = Node  # for `line_steps`: this module alone imports tree_sitter

Span = tuple[int, int]

_INNER = frozenset({"program", "list", "pipeline", "redirected_statement", "command_name"})
_WORDS = frozenset({"word", "number", "string", "raw_string", "concatenation", "$"})
_INSIDE_WORDS = frozenset({"word", "number", "string", "raw_string", "string_content", '"', "$"})
_SEPARATORS = frozenset({";", "&&", "||", "|", "|&"})
_REDIRECTIONS = frozenset({">", ">>", ">|", ">&", "<", "<>", "&>", "&>>"})


class GrammarMissingError(ImportError):
    """The packages of the extra `shell` are not installed."""


class ShellOutline(Struct):
    """Byte positions in a line: of the words of each simple command, of redirection targets and of separators."""

    commands: list[list[Span]] = field(default_factory=list)
    redirections: list[Span] = field(default_factory=list)
    separators: list[Span] = field(default_factory=list)


def outline(line: bytes) -> ShellOutline | None:
    """Return the outline of `line`; None if it has more than simple commands. Raises GrammarMissingError."""
    found = ShellOutline()
    root = parsed(line)
    return found if not root.has_error and _visit(root, found) else None


def parsed(line: bytes) -> Node:
    """Return the root of the line's tree, which may have errors. Raises GrammarMissingError."""
    return _parser().parse(line).root_node


@cache
def _parser() -> Parser:
    try:
        # Imported here, not at the top: an optional package that is slow to load, needed only for patterns of Bash
        # tokens.
        import tree_sitter
        import tree_sitter_bash
    except ImportError as fault:
        raise GrammarMissingError(str(fault)) from fault
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _visit(node: Node, found: ShellOutline) -> bool:
    if node.is_missing:
        return False
    kind = node.type
    if kind == "comment":
        return True
    if kind in _SEPARATORS:
        found.separators.append((node.start_byte, node.end_byte))
        return True
    if kind == "command":
        found.commands.append([])
    elif kind == "file_redirect":
        return _redirect(node, found)
    elif kind in _WORDS:
        return _word(node, found)
    elif kind not in _INNER:
        return False
    return all(_visit(child, found) for child in node.children)


def _redirect(node: Node, found: ShellOutline) -> bool:
    """Record the first word as the target and later words as arguments, as bash does. The grammar does not do this."""
    children = [child for child in node.children if child.type != "file_descriptor"]
    if not children or children[0].type not in _REDIRECTIONS:
        return False
    for place, child in enumerate(children[1:]):
        if child.type not in _WORDS or not _plain(child):
            return False
        if place == 0:
            found.redirections.append((child.start_byte, child.end_byte))
        elif not _word(child, found):
            return False
    return True


def _word(node: Node, found: ShellOutline) -> bool:
    if not found.commands or not _plain(node):
        return False
    found.commands[-1].append((node.start_byte, node.end_byte))
    return True


def _plain(node: Node) -> bool:
    return all(
        child.type in _INSIDE_WORDS and not child.is_missing and (not child.children or _plain(child))
        for child in node.children
    )
