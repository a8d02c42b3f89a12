"""Take any command line apart into its steps: each simple command with its input, and the place of its output.

For lines that were run already, not for a permission decision: a construct that `command_line` refuses (a loop, a
substitution, a redirection, a here-document) is looked into as far as possible. Texts of here-documents and quoted
texts are never commands.

Simple lines are read by `words` alone. All others need the grammar of tree-sitter-bash; without it `line_steps` raises
GrammarMissingError.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.shell.command_line import MAX_BYTES, ShellWord
from prowess._internal.shell.syntax_tree import parsed
from prowess._internal.shell.words import Operator, Word, read_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.shell.syntax_tree import SyntaxNode as Node

_MAX_STEPS = 500
_MAX_TEXTS = 32  # values of one word, if it has variables with several values
_MAX_DEPTH = 60
_NULL = "/dev/null"
_MOVES = frozenset({"cd", "pushd"})
_VARIABLE = re.compile(r"\$\{?(\w+)\}?\Z")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%")


class ShellStep(Struct, frozen=True, kw_only=True):
    """One simple command of a line.

    `words` are its words without quotes; one that a shell would expand further has `expands` set. `inputs` are the
    files that it reads by `<`. `directory` is where it runs: None if that is not known. `shown` is false if its output
    goes to a file. `pipe` are the programs after it in its pipeline. `alone` is true if the line has no other step.
    `masked` is true if `||` follows.
    """

    words: tuple[ShellWord, ...]
    inputs: tuple[ShellWord, ...] = ()
    directory: str | None = None
    shown: bool = True
    pipe: tuple[str, ...] = ()
    alone: bool = True
    masked: bool = False


class ShellLine(Struct, frozen=True, kw_only=True):
    """The steps of a line in order, and the directory after it; None if that is not known."""

    steps: tuple[ShellStep, ...] = ()
    directory: str | None = None


def line_steps(line: str, directory: str | None = None) -> ShellLine:
    """Return the steps of a line that starts in `directory`. A line that is too long has none.

    Raises:
        GrammarMissingError: the line needs the grammar, which is not installed.
    """
    source = line.encode("utf-8", "replace")
    if len(source) > MAX_BYTES or b"\0" in source:
        return ShellLine(directory=directory)
    tokens = read_words(source)
    reader = _Reader(directory)
    if isinstance(tokens, tuple) and _is_simple(tokens):
        steps = list(reader.simple(tokens))
    else:
        steps = list(itertools.islice(reader.tree(parsed(source)), _MAX_STEPS))
    if len(steps) > 1:
        steps = [replace(step, alone=False) for step in steps]
    return ShellLine(steps=tuple(steps), directory=reader.directory)


def _is_simple(tokens: tuple[Word | Operator, ...]) -> bool:
    """Whether no word is a part of the shell's own grammar and no variable is set."""
    starts = True
    for token in tokens:
        if isinstance(token, Operator):
            if token.redirects:
                return False
            starts = True
        elif starts:
            if (
                token.source != token.text
                or not _PLAIN.issuperset(token.source)
                or "=" in token.source
                or token.text in _GRAMMAR
            ):
                return False
            starts = False
    return True


_GRAMMAR = frozenset(
    {"if", "for", "while", "until", "case", "select", "function", "time", "coproc", "then", "do", "else"}
)


class _Reader:
    """Follows the directory and the variables through a line."""

    def __init__(self, directory: str | None) -> None:
        self.directory = directory
        self._variables: dict[str, tuple[str, ...]] = {}

    # ── simple lines ────────────────────────────────────────────────────────────────────────────────────────

    def simple(self, tokens: tuple[Word | Operator, ...]) -> Iterator[ShellStep]:
        """Yield the steps of words and separators."""
        groups: list[tuple[list[ShellWord], str]] = [([], "")]
        for token in tokens:
            if isinstance(token, Operator):
                groups[-1] = (groups[-1][0], token.text)
                groups.append(([], ""))
            else:
                groups[-1][0].append(ShellWord(text=token.text, expands=token.expands))
        for place, (words, _) in enumerate(groups):
            if words:
                pipe = []
                for (_, sign), (after, _) in itertools.pairwise(groups[place:]):
                    if sign not in ("|", "|&"):
                        break
                    pipe += [after[0].text] if after else []
                last = next(sign for _, sign in groups[place:] if sign not in ("|", "|&"))
                yield self._step(tuple(words), pipe=tuple(pipe), masked=last == "||")

    def _step(
        self,
        words: tuple[ShellWord, ...],
        *,
        inputs: tuple[ShellWord, ...] = (),
        shown: bool = True,
        pipe: tuple[str, ...] = (),
        masked: bool = False,
    ) -> ShellStep:
        step = ShellStep(words=words, inputs=inputs, directory=self.directory, shown=shown, pipe=pipe, masked=masked)
        if words and words[0].text in _MOVES:
            self._move([word for word in words[1:] if not word.text.startswith("-")])
        return step

    def _move(self, targets: list[ShellWord]) -> None:
        if not targets or targets[0].expands:
            text = targets[0].text if targets else "~"
            self.directory = text if text.startswith("~") and "*" not in text else None
        else:
            self.directory = posixpath.normpath(posixpath.join(self.directory or "", targets[0].text))

    # ── lines that need the grammar ─────────────────────────────────────────────────────────────────────────

    def tree(self, node: Node, context: _Context | None = None, depth: int = 0) -> Iterator[ShellStep]:
        """Yield the steps below a node of the grammar."""
        context = context or _Context()
        if depth > _MAX_DEPTH:
            return
        match node.type:
            case "command":
                yield from self._command(node, context, depth)
            case "redirected_statement":
                yield from self._redirected(node, context, depth)
            case "pipeline":
                yield from self._pipeline(node, context, depth)
            case "list":
                yield from self._list(node, context, depth)
            case "subshell" | "command_substitution" | "process_substitution":
                before, variables = self.directory, dict(self._variables)
                yield from self._children(node, context, depth)
                self.directory, self._variables = before, variables
            case "variable_assignment":
                yield from self._assign(node, context, depth)
            case "for_statement":
                yield from self._loop(node, context, depth)
            case "heredoc_body" | "string" | "raw_string" | "herestring_redirect" if not _substitutions(node):
                return
            case _:
                yield from self._children(node, context, depth)

    def _children(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        for child in node.named_children:
            yield from self.tree(child, context, depth + 1)

    def _command(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        words: list[tuple[ShellWord, ...]] = []
        inputs = list(context.inputs)
        shown = context.shown
        for child in node.named_children:
            if child.type in ("file_redirect", "heredoc_redirect"):
                shown = self._redirect(child, inputs, words) and shown
            elif child.type == "herestring_redirect":
                continue
            elif child.type != "variable_assignment":
                words.append(
                    self._texts(
                        child.named_children[0] if child.type == "command_name" and child.named_children else child
                    )
                )
        name = words[0][0].text if words else ""
        inside = context if name in ("echo", "printf") or not words else context.hidden()
        for part in _substitutions(node):
            yield from self.tree(part, inside, depth + 1)
        for chosen in itertools.islice(itertools.product(*words), _MAX_TEXTS):
            yield self._step(chosen, inputs=tuple(inputs), shown=shown, pipe=context.pipe, masked=context.masked)

    def _redirected(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        inputs, more = list(context.inputs), list[tuple[ShellWord, ...]]()
        shown = context.shown
        for child in node.children_by_field_name("redirect"):
            shown = self._redirect(child, inputs, more) and shown
        body = node.child_by_field_name("body")
        changed = _Context(inputs=tuple(inputs), shown=shown, pipe=context.pipe, masked=context.masked)
        if body is not None:
            yield from self.tree(body, changed, depth + 1)
        for child in node.children_by_field_name("redirect"):
            for part in _substitutions(child):
                yield from self.tree(part, context.hidden(), depth + 1)

    def _redirect(self, node: Node, inputs: list[ShellWord], words: list[tuple[ShellWord, ...]]) -> bool:
        """Note the input of a redirection. Return false if it sends the output to a file."""
        if node.type == "heredoc_redirect":
            return self._redirect_all(
                [child for child in node.named_children if child.type == "file_redirect"], inputs, words
            )
        if node.type != "file_redirect":
            return True
        sign = next((child.type for child in node.children if not child.is_named), "")
        descriptor = next((_source(child) for child in node.children if child.type == "file_descriptor"), "")
        targets = node.children_by_field_name("destination")
        if not targets:
            return True
        words += [self._texts(child) for child in targets[1:]]  # bash takes these as arguments
        if sign == "<":
            inputs += self._texts(targets[0])
            return True
        if ">" not in sign or sign in (">&", "<>") or descriptor == "2":
            return sign != ">&" or _source(targets[0]).isdigit() or descriptor == "2"
        return False

    def _redirect_all(self, nodes: list[Node], inputs: list[ShellWord], words: list[tuple[ShellWord, ...]]) -> bool:
        shown = True
        for node in nodes:
            shown = self._redirect(node, inputs, words) and shown
        return shown

    def _pipeline(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        stages = node.named_children
        names = [_program(stage) for stage in stages]
        for place, stage in enumerate(stages):
            # If the last stage writes to a file, no earlier stage shows its output.
            shown = context.shown and (place == len(stages) - 1 or self._shows(stages[-1]))
            pipe = (*names[place + 1 :], *context.pipe)
            yield from self.tree(stage, _Context(inputs=(), shown=shown, pipe=pipe, masked=context.masked), depth + 1)

    def _shows(self, node: Node) -> bool:
        if node.type not in ("redirected_statement", "command"):
            return True
        redirects = [child for child in node.named_children if child.type in ("file_redirect", "heredoc_redirect")]
        return self._redirect_all(redirects, [], [])

    def _list(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        masked = any(child.type == "||" for child in node.children)
        first = True
        for child in node.named_children:
            inside = (
                context
                if not (masked and first)
                else _Context(inputs=context.inputs, shown=context.shown, pipe=context.pipe, masked=True)
            )
            first = False
            yield from self.tree(child, inside, depth + 1)

    def _assign(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            texts = self._texts(value) if value is not None else (ShellWord(text=""),)
            known = not any(word.expands for word in texts)
            self._variables[_source(name)] = tuple(word.text for word in texts) if known else ()
        yield from self._children(node, context, depth)

    def _loop(self, node: Node, context: _Context, depth: int) -> Iterator[ShellStep]:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [word.text for child in node.children_by_field_name("value") for word in self._texts(child)]
        if name is not None:
            self._variables[_source(name)] = tuple(values[:_MAX_TEXTS])
        for child in node.children_by_field_name("value"):
            for part in _substitutions(child):
                yield from self.tree(part, context.hidden(), depth + 1)
        if body is not None:
            yield from self.tree(body, context, depth + 1)

    # ── words ───────────────────────────────────────────────────────────────────────────────────────────────

    def _texts(self, node: Node) -> tuple[ShellWord, ...]:
        """Return the texts that a word can have; several if it has a variable with several values."""
        match node.type:
            case "raw_string":
                return (ShellWord(text=_source(node)[1:-1]),)
            case "ansi_c_string" | "translated_string":
                return (ShellWord(text=_source(node)[2:-1], expands=True),)
            case "simple_expansion" | "expansion":
                return self._variable(node)
            case "command_substitution" | "process_substitution" | "arithmetic_expansion":
                return (ShellWord(text="", expands=True),)
            case "string" | "concatenation":
                return self._joined(node)
            case _:
                return (_unquoted(_source(node)),)

    def _variable(self, node: Node) -> tuple[ShellWord, ...]:
        match = _VARIABLE.match(_source(node))
        values = self._variables.get(match[1], ()) if match is not None else ()
        if match is not None and match[1] == "PWD" and self.directory:
            return (ShellWord(text=self.directory),)
        # A value with a pattern is expanded further if the variable is not quoted; quoted or not, it names the files.
        return tuple(ShellWord(text=text, expands="*" in text) for text in values) or (
            ShellWord(text="", expands=True),
        )

    def _joined(self, node: Node) -> tuple[ShellWord, ...]:
        parts: list[tuple[ShellWord, ...]] = []
        end = node.start_byte + (node.type == "string")
        last = node.end_byte - (node.type == "string")
        whole = _source(node)
        for child in (*node.named_children, None):
            start = last if child is None else child.start_byte
            if start > end:  # text between the children, such as blanks inside quotes
                between = whole.encode()[end - node.start_byte : start - node.start_byte].decode("utf-8", "replace")
                parts.append((ShellWord(text=between),))
            if child is not None:
                parts.append(self._quoted(child) if node.type == "string" else self._texts(child))
                end = child.end_byte
        joined = itertools.islice(itertools.product(*parts), _MAX_TEXTS)
        return tuple(
            ShellWord(text="".join(part.text for part in chosen), expands=any(part.expands for part in chosen))
            for chosen in joined
        )

    def _quoted(self, node: Node) -> tuple[ShellWord, ...]:
        if node.type == "string_content":
            return (ShellWord(text=re.sub(r'\\([$`"\\\n])', lambda match: match[1].strip("\n"), _source(node))),)
        return self._texts(node)


class _Context(Struct, frozen=True, kw_only=True):
    """The surroundings of a node: input of the statement, whether its output is shown, the pipeline after it."""

    inputs: tuple[ShellWord, ...] = ()
    shown: bool = True
    pipe: tuple[str, ...] = ()
    masked: bool = False

    def hidden(self) -> _Context:
        """Return the context of a substitution whose output goes into a word."""
        return _Context(shown=False)


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unquoted(source: str) -> ShellWord:
    tokens = read_words(source.encode())
    if isinstance(tokens, tuple) and len(tokens) == 1 and isinstance(tokens[0], Word):
        return ShellWord(text=tokens[0].text, expands=tokens[0].expands)
    return ShellWord(text=source, expands="*" in source or "{" in source)


def _program(stage: Node) -> str:
    """Return the name of the program of a stage of a pipeline; empty if it is not one simple command."""
    node: Node | None = stage
    if stage.type == "redirected_statement":
        node = stage.child_by_field_name("body")
    if node is None or node.type != "command":
        return ""
    name = node.child_by_field_name("name")
    return "" if name is None else posixpath.basename(_source(name))


def _substitutions(node: Node) -> list[Node]:
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
