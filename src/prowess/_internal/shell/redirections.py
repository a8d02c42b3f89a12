"""Redirections of a command or a statement: its input, the target of its output, the text of its here-document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess._internal.shell.nodes import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prowess._internal.shell.command_line import ShellWord
    from prowess._internal.shell.syntax_tree import SyntaxNode as Node

REDIRECTIONS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_SHOWN = re.compile(r"/dev/(?:stdout|stderr|tty|fd/[12])")


class Redirections(Struct):
    """The redirections that were read so far.

    `inputs` are the files after `<`, `outputs` those after `>`; `words` are words after a target, which bash takes as
    arguments. `given` is the text of a here-document or a here-string. `shown` is false if the output goes to a file.
    """

    inputs: list[ShellWord] = field(default_factory=list)
    outputs: list[ShellWord] = field(default_factory=list)
    words: list[tuple[ShellWord, ...]] = field(default_factory=list)
    given: str | None = None
    shown: bool = True

    def read(self, nodes: Iterable[Node], texts: Callable[[Node], tuple[ShellWord, ...]]) -> None:
        """Take the redirections among `nodes`. `texts` returns the values that a word can have."""
        for node in nodes:
            match node.type:
                case "heredoc_redirect":
                    self._here_document(node, texts)
                case "herestring_redirect" if node.named_children:
                    self.given = texts(node.named_children[0])[0].text
                case "file_redirect":
                    self._file(node, texts)
                case _:
                    pass

    def _here_document(self, node: Node, texts: Callable[[Node], tuple[ShellWord, ...]]) -> None:
        for child in node.named_children:
            if child.type == "heredoc_body":
                self.given = source_of(child)
            elif child.type == "file_redirect":
                self._file(child, texts)

    def _file(self, node: Node, texts: Callable[[Node], tuple[ShellWord, ...]]) -> None:
        sign = next((child.type for child in node.children if not child.is_named), "")
        descriptor = next((source_of(child) for child in node.children if child.type == "file_descriptor"), "")
        targets = node.children_by_field_name("destination")
        if not targets:
            return
        self.words += [texts(child) for child in targets[1:]]
        target = source_of(targets[0])
        if sign == "<":
            self.inputs += texts(targets[0])
        elif ">" not in sign or sign == "<>" or descriptor == "2" or _SHOWN.fullmatch(target):
            pass
        elif sign != ">&" or not target.isdigit():
            self.shown = False
            self.outputs += texts(targets[0])
