"""Take any command line apart into its steps: each simple command with its input, and the place of its output.

For lines that were run already, not for a permission decision: a construct that `command_line` refuses (a loop, a
substitution, a redirection, a here-document) is looked into as far as possible. Texts of here-documents and quoted
texts are never commands. What cannot run is left out: what follows `exit` or `false &&`, and a function without a call.

Simple lines are read by `words` alone. All others need the grammar of tree-sitter-bash; without it `line_steps` raises
GrammarMissingError.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.shell.command_line import MAX_BYTES, ShellWord
from prowess._internal.shell.nodes import node_status, program_of, source_of, substitutions_of, unquoted
from prowess._internal.shell.outcomes import joined_status, known_status, passes_nothing
from prowess._internal.shell.redirections import REDIRECTIONS, Redirections
from prowess._internal.shell.step import ShellLine, ShellStep, StepContext
from prowess._internal.shell.syntax_tree import parsed
from prowess._internal.shell.words import Operator, Word, is_simple_line, read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess._internal.shell.syntax_tree import SyntaxNode as Node

_MAX_STEPS = 500
_MAX_PIPE = 100  # programs of a pipeline that a step knows
_MAX_TEXTS = 32  # values of one word, if it has variables with several values
_MAX_DEPTH = 60
_MAX_PREFIXES = 3  # words before the program, as in `time echo`
_MOVES = frozenset({"cd", "pushd", "chdir", "set-location", "push-location", "sl"})  # those of PowerShell, too
_BEFORE_MOVES = frozenset({"time", "command", "builtin", "!"})
_TEXTS = frozenset({"heredoc_body", "string", "raw_string", "herestring_redirect"})
_VARIABLE = re.compile(r"\$\{?(\w+)\}?\Z")


def line_steps(line: str, directory: str | None = None) -> ShellLine:
    """Return the steps of a line that starts in `directory`. A line that is too long has none.

    Raises:
        GrammarMissingError: the line needs the grammar, which is not installed.
    """
    source = line.encode("utf-8", "replace")
    if len(source) > MAX_BYTES or b"\0" in source:
        return ShellLine(directory=directory)
    tokens = read_words(source)
    reader = _Reader(directory, line)
    plain = _without_errors(tokens) if isinstance(tokens, tuple) else None
    if plain is not None and is_simple_line(plain):
        steps = list(itertools.islice(reader.simple(plain), _MAX_STEPS))
    else:
        steps = list(itertools.islice(reader.tree(parsed(source)), _MAX_STEPS))
    if len(steps) > 1:
        steps = [replace(step, alone=False) for step in steps]
    return ShellLine(steps=tuple(steps), directory=reader.directory)


def _without_errors(tokens: tuple[Word | Operator, ...]) -> tuple[Word | Operator, ...]:
    """Return the tokens without `2>/dev/null` and `2>&1`: where errors go changes no step."""
    dropped: set[int] = set()
    for place, (number, sign, target) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if isinstance(number, Operator) or isinstance(target, Operator) or not isinstance(sign, Operator):
            continue
        if number.source == "2" and sign.text in (">", ">>", ">&") and sign.start == number.end:
            dropped |= {place, place + 1, place + 2}
    return tuple(token for place, token in enumerate(tokens) if place not in dropped)


class _Reader:
    """Follows the directory and the variables through a line."""

    def __init__(self, directory: str | None, line: str) -> None:
        self.directory = directory
        self._line = line
        self._variables: dict[str, tuple[str, ...]] = {}
        self._functions: dict[str, Node] = {}
        self._ended = False  # by `exit`
        self._of_type: dict[str, Callable[[Node, StepContext, int], Iterator[ShellStep]]] = {
            "command": self._command,
            "redirected_statement": self._redirected,
            "pipeline": self._pipeline,
            "list": self._list,
            "if_statement": self._if,
            "elif_clause": self._if,
            "while_statement": self._while,
            "for_statement": self._loop,
            "case_statement": self._unsure,
            "function_definition": self._define,
            "variable_assignment": self._assign,
            "subshell": self._in_subshell,
            "command_substitution": self._in_subshell,
            "process_substitution": self._in_subshell,
        }

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
        place, before, status = 0, "", None
        while place < len(groups):
            end = next(at for at in range(place, len(groups)) if groups[at][1] not in ("|", "|&"))
            stages, sign = [words for words, _ in groups[place : end + 1] if words], groups[end][1]
            is_reached = before not in ("&&", "||") or status is not (before == "||")
            is_sure = before not in ("&&", "||") or status is not None
            if is_reached:
                yield from self._stages(stages, masked=sign == "||", is_fallback=before == "||" and status is None)
            name = stages[0][0].text if len(stages) == 1 else ""
            if name == "exit" and is_reached and is_sure and sign != "&":
                return
            own = known_status(name)
            status = joined_status(status, before, own) if before in ("&&", "||") else own
            place, before = end + 1, sign

    def _stages(self, stages: list[list[ShellWord]], *, masked: bool, is_fallback: bool) -> Iterator[ShellStep]:
        names = [words[0].text for words in stages]
        silent = _last_silent([[word.text for word in words] for words in stages])
        for place, words in enumerate(stages):
            pipe = tuple(names[place + 1 : place + 1 + _MAX_PIPE])
            yield self._step(
                tuple(words),
                context=StepContext(shown=place >= silent, pipe=pipe, masked=masked, is_fallback=is_fallback),
            )

    def _step(self, words: tuple[ShellWord, ...], *, context: StepContext) -> ShellStep:
        step = ShellStep(
            words=words,
            inputs=context.inputs,
            outputs=context.outputs,
            given=context.given,
            directory=self.directory,
            shown=context.shown,
            pipe=context.pipe,
            masked=context.masked,
            is_fallback=context.is_fallback,
        )
        plain = [word for word in words if not word.text.startswith("-") and word.text not in _BEFORE_MOVES]
        if plain and plain[0].text.casefold() in _MOVES:
            self._move(plain[1:])
        return step

    def _move(self, targets: list[ShellWord]) -> None:
        if not targets or targets[0].expands:
            text = targets[0].text if targets else "~"
            self.directory = text if text.startswith("~") and "*" not in text else None
        else:
            self.directory = posixpath.normpath(posixpath.join(self.directory or "", targets[0].text))

    # ── lines that need the grammar ─────────────────────────────────────────────────────────────────────────

    def tree(self, node: Node, context: StepContext | None = None, depth: int = 0) -> Iterator[ShellStep]:
        """Yield the steps below a node of the grammar."""
        context = context or StepContext()
        if depth > _MAX_DEPTH or self._ended:
            return
        if (read := self._of_type.get(node.type)) is not None:
            yield from read(node, context, depth)
        elif node.type not in _TEXTS or substitutions_of(node):
            yield from self._children(node, context, depth)

    def _in_subshell(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        before, variables = self.directory, dict(self._variables)
        yield from self._read_by_shell(node, context)
        yield from self._children(node, context, depth)
        self.directory, self._variables, self._ended = before, variables, False

    def _unsure(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        yield from self._children(node, context.unsure(), depth)

    def _define(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        """Keep the body of a function; it runs where the function is called."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        del context, depth
        if name is not None and body is not None:
            self._functions[source_of(name)] = body
        yield from ()

    def _children(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        for child in node.named_children:
            yield from self.tree(child, context, depth + 1)

    def _command(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        here = self._changed([child for child in node.named_children if child.type in REDIRECTIONS], context)
        words = list(self._words(node))
        if len(words) > 1 and words[0][0].text in ("{", "!"):  # the grammar reads `! { a; }` so
            del words[0]
        name = words[0][0].text if words else ""
        tells = any(word[0].text in ("echo", "printf") for word in words[:_MAX_PREFIXES])
        inside = context if tells or not words else context.hidden()
        for part in substitutions_of(node):
            yield from self.tree(part, inside, depth + 1)
        for chosen in itertools.islice(itertools.product(*words), _MAX_TEXTS):
            yield self._step(chosen, context=here)
        if (body := self._functions.pop(name, None)) is not None:  # taken out: it may call itself
            yield from self.tree(body, here, depth + 1)
            self._functions[name] = body
        self._ended = self._ended or (name == "exit" and context.is_sure)

    def _words(self, node: Node) -> Iterator[tuple[ShellWord, ...]]:
        """Yield the texts of each word of a command; those of a pattern with braces are several."""
        for child in node.named_children:
            if child.type == "command_name" and child.named_children:
                yield self._texts(child.named_children[0])
            elif child.type == "file_redirect":
                # Bash takes the words after the target as arguments.
                yield from (self._texts(later) for later in child.children_by_field_name("destination")[1:])
            elif child.type not in ("variable_assignment", *REDIRECTIONS):
                yield self._texts(child)

    def _redirected(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        redirects, body = node.children_by_field_name("redirect"), node.child_by_field_name("body")
        changed = self._changed(redirects, context)
        if body is not None and body.type == "list":  # only its last command is redirected
            yield from self._list(body, context, depth, last=changed)
        elif body is not None:
            yield from self.tree(body, changed, depth + 1)
        elif changed.outputs:
            yield self._step((ShellWord(text=""),), context=changed)  # `> FILE` alone
        for child in redirects:
            # What is put into a here-document goes through the program that reads it.
            name = program_of(body) if body is not None and child.type == "heredoc_redirect" else ""
            inside = replace(changed, inputs=(), pipe=(name, *context.pipe)) if name else context.hidden()
            for part in substitutions_of(child):
                yield from self.tree(part, inside, depth + 1)

    def _changed(self, redirects: Sequence[Node], context: StepContext) -> StepContext:
        """Return the context of the body of a statement with redirections."""
        read = Redirections(inputs=list(context.inputs), outputs=list(context.outputs), given=context.given)
        read.read(redirects, self._texts)
        return replace(
            context,
            inputs=tuple(read.inputs),
            outputs=tuple(read.outputs),
            given=read.given,
            shown=context.shown and read.shown,
        )

    def _pipeline(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        stages = node.named_children
        names = [program_of(stage) for stage in stages]
        silent = _last_silent([self._plain_texts(stage) for stage in stages])
        is_shown = context.shown and self._shows(stages[-1])  # if the last stage writes to a file, none is shown
        for place, stage in enumerate(stages):
            shown = (context.shown if place == len(stages) - 1 else is_shown) and place >= silent
            pipe = (*names[place + 1 : place + 1 + _MAX_PIPE], *context.pipe)
            inside = replace(context, shown=shown, pipe=pipe, is_sure=context.is_sure and len(stages) == 1)
            if place:
                inside = replace(inside, inputs=(), given=None)
            if place < len(stages) - 1:
                inside = replace(inside, outputs=())
            yield from self.tree(stage, inside, depth + 1)

    def _plain_texts(self, node: Node) -> list[str]:
        words = node.named_children if node.type == "command" and program_of(node) in ("head", "tail") else []
        return [source_of(word) for word in words]

    def _shows(self, node: Node) -> bool:
        read = Redirections()
        if node.type in ("redirected_statement", "command"):
            read.read(node.named_children, self._texts)
        return read.shown

    def _list(
        self, node: Node, context: StepContext, depth: int, last: StepContext | None = None
    ) -> Iterator[ShellStep]:
        """Yield the steps of `a && b` and `a || b`. `last` is the context of the last part, if it has its own."""
        first, *others = node.named_children
        sign = next((child.type for child in node.children if child.type in ("&&", "||")), "")
        yield from self.tree(first, replace(context, masked=True) if sign == "||" else context, depth + 1)
        status = node_status(first)
        if sign and status is (sign == "||"):
            return  # what follows never runs
        inside = context if last is None else last
        if sign and status is None:
            inside = replace(inside, is_sure=False, is_fallback=inside.is_fallback or sign == "||")
        for child in others:
            yield from self.tree(child, inside, depth + 1)

    def _if(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        then = next((child.start_byte for child in node.children if child.type == "then"), node.end_byte)
        conditions = [child for child in node.named_children if child.start_byte < then]
        rest = [child for child in node.named_children if child.start_byte > then]
        for child in conditions:
            yield from self.tree(child, context, depth + 1)
        status = node_status(conditions[-1]) if conditions else None
        for child in rest:
            is_other = child.type in ("elif_clause", "else_clause")
            if status is not is_other or status is None:
                yield from self.tree(child, context.unsure() if status is None else context, depth + 1)

    def _while(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        is_until = any(child.type == "until" for child in node.children)
        conditions = [child for child in node.named_children if child.type != "do_group"]
        body = [child for child in node.named_children if child.type == "do_group"]
        for child in conditions:
            yield from self.tree(child, context, depth + 1)
        if conditions and node_status(conditions[-1]) is is_until:
            return
        told = any(program_of(child) in ("echo", "printf") for group in body for child in group.named_children)
        if context.inputs and told and any(program_of(child) == "read" for child in conditions):
            yield self._shown_file(context)  # a loop that reads lines and prints them
        for child in body:
            yield from self.tree(child, context.unsure(), depth + 1)

    def _read_by_shell(self, node: Node, context: StepContext) -> Iterator[ShellStep]:
        """Yield `$(<FILE)`, which is `$(cat FILE)`."""
        if [child.type for child in node.named_children] == ["file_redirect"]:
            inside = self._changed(node.named_children, replace(context, inputs=()))
            if inside.inputs:
                yield self._shown_file(inside)

    def _shown_file(self, context: StepContext) -> ShellStep:
        return self._step((ShellWord(text="cat"),), context=replace(context, outputs=(), given=None))

    def _assign(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            texts = self._texts(value) if value is not None else (ShellWord(text=""),)
            known = not any(word.expands for word in texts)
            self._variables[source_of(name)] = tuple(word.text for word in texts) if known else ()
            if re.search(rf"\$\{{?{re.escape(source_of(name))}\b", self._line) is None:
                context = context.hidden()  # nothing uses the variable
        yield from self._children(node, context, depth)

    def _loop(self, node: Node, context: StepContext, depth: int) -> Iterator[ShellStep]:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [word.text for child in node.children_by_field_name("value") for word in self._texts(child)]
        if name is not None:
            self._variables[source_of(name)] = tuple(values[:_MAX_TEXTS])
        for child in node.children_by_field_name("value"):
            for part in substitutions_of(child):
                yield from self.tree(part, context.hidden(), depth + 1)
        if body is not None:
            yield from self.tree(body, context.unsure(), depth + 1)

    # ── words ───────────────────────────────────────────────────────────────────────────────────────────────

    def _texts(self, node: Node) -> tuple[ShellWord, ...]:
        """Return the texts that a word can have; several if it has a variable with several values."""
        match node.type:
            case "raw_string":
                return (ShellWord(text=source_of(node)[1:-1]),)
            case "ansi_c_string" | "translated_string":
                return (ShellWord(text=source_of(node)[2:-1], expands=True),)
            case "simple_expansion" | "expansion":
                return self._variable(node)
            case "command_substitution" | "process_substitution" | "arithmetic_expansion":
                return (ShellWord(text="", expands=True),)
            case "string" | "concatenation":
                return self._joined(node)
            case _:
                return (unquoted(source_of(node)),)

    def _variable(self, node: Node) -> tuple[ShellWord, ...]:
        match = _VARIABLE.match(source_of(node))
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
        whole = source_of(node)
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
            return (ShellWord(text=re.sub(r'\\([$`"\\\n])', lambda match: match[1].strip("\n"), source_of(node))),)
        return self._texts(node)


def _last_silent(stages: list[list[str]]) -> int:
    """Return the place of the last stage of a pipeline that passes nothing on; 0 if there is none."""
    return max((place for place, words in enumerate(stages) if passes_nothing(words)), default=0)
