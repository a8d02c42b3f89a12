"""Nodes of the grammar of bash: their texts, the program of a command, and the status of a statement."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from prowess._internal.shell.command_line import ShellWord
from prowess._internal.shell.outcomes import joined_status, known_status
from prowess._internal.shell.words import Word, read_words

if TYPE_CHECKING:
    from prowess._internal.shell.syntax_tree import SyntaxNode as Node

_MAX_DEPTH = 60


def node_status(node: Node, depth: int = 0) -> bool | None:
    """Return whether a statement surely succeeds or surely fails; None if that is not known."""
    if depth > _MAX_DEPTH:
        return None
    match node.type:
        case "command":
            return known_status(program_of(node))
        case "negated_command" if node.named_children:
            status = node_status(node.named_children[0], depth + 1)
            return None if status is None else not status
        case "list":
            sign = next((child.type for child in node.children if child.type in ("&&", "||")), "")
            first, last = node.named_children[0], node.named_children[-1]
            return joined_status(node_status(first, depth + 1), sign, node_status(last, depth + 1)) if sign else None
        case _:
            return None


def source_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def unquoted(source: str) -> ShellWord:
    """Return the word that a text in the shell's syntax is."""
    tokens = read_words(source.encode())
    if isinstance(tokens, tuple) and len(tokens) == 1 and isinstance(tokens[0], Word):
        return ShellWord(text=tokens[0].text, expands=tokens[0].expands)
    return ShellWord(text=source, expands="*" in source or "{" in source)


def program_of(stage: Node) -> str:
    """Return the name of the program of a stage of a pipeline; empty if it is not one simple command."""
    node: Node | None = stage
    if stage.type == "redirected_statement":
        node = stage.child_by_field_name("body")
    if node is None or node.type != "command":
        return ""
    name = node.child_by_field_name("name")
    return "" if name is None else posixpath.basename(source_of(name))


def substitutions_of(node: Node) -> list[Node]:
    """Return the outermost substitutions below a node."""
    found: list[Node] = []
    waiting = list(reversed(node.named_children))
    while waiting:
        child = waiting.pop()
        if child.type in ("command_substitution", "process_substitution"):
            found.append(child)
        else:
            waiting += reversed(child.named_children)
    return found
