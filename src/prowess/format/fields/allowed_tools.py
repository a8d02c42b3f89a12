"""Parser of `allowed-tools`, the list of tools that a skill uses.

    Bash(git add *) Bash(jq:*), Read

A token is `Name` or `Name(pattern)`. Tokens are separated by whitespace or commas. Whitespace and commas inside
parentheses belong to the token, and parentheses nest. The parser does not guess: a space before `(`, text after `)`, an
open parenthesis and `Name()` are faults, because a lenient reading could permit more than intended. Names are compared
as a whole and case-sensitively. `prowess.policy.patterns` matches the patterns against calls.

Agent Skills specification, field `allowed-tools`. The field is experimental, and agents differ in how they apply it.
"""

from __future__ import annotations

from msgspec import Struct

_BLANKS = " \t\r\n"


class ToolToken(Struct, frozen=True, kw_only=True):
    """One tool, or its calls that match `pattern`; `pattern` is None for a bare name. `str` gives the source."""

    name: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.name if self.pattern is None else f"{self.name}({self.pattern})"


class ToolFault(Struct, frozen=True, kw_only=True):
    """A syntax error; `offset` counts code points from the start of the text."""

    message: str
    offset: int


class AllowedTools(Struct, frozen=True, kw_only=True):
    """The tokens of a text. If there is a fault, `tokens` is empty, so that no call is permitted."""

    tokens: tuple[ToolToken, ...]
    fault: ToolFault | None
    commas: bool  # whether commas separate tokens


def parse_allowed_tools(text: str) -> AllowedTools:
    """Parse the tokens of `text`. A syntax error is not raised: the first one is in the result."""
    tokens: list[ToolToken] = []
    commas = False
    after_comma = True  # true at the start: a comma needs a name before it
    at = 0
    while at < len(text):
        char = text[at]
        if char in _BLANKS:
            at += 1
        elif char == ",":
            if after_comma:
                return AllowedTools(
                    tokens=(),
                    fault=ToolFault(message="a tool name is missing before this comma", offset=at),
                    commas=True,
                )
            commas = after_comma = True
            at += 1
        else:
            end = _token_end(text, at)
            if isinstance(end, ToolFault):
                return AllowedTools(tokens=(), fault=end, commas=commas)
            tokens.append(_token(text[at:end]))
            after_comma = False
            at = end
    return AllowedTools(tokens=tuple(tokens), fault=None, commas=commas)


def _token(source: str) -> ToolToken:
    name, parenthesis, rest = source.partition("(")
    return ToolToken(name=name, pattern=rest[:-1] if parenthesis else None)


def _token_end(text: str, start: int) -> int | ToolFault:
    at = start
    while at < len(text) and text[at] not in " \t\r\n,()":
        at += 1
    if at == len(text) or text[at] in " \t\r\n,":
        return at
    if text[at] == ")":
        return ToolFault(message="this parenthesis was never opened", offset=at)
    if at == start:
        before = "there is a space before this parenthesis" if start else "a tool name is missing"
        return ToolFault(message=f"{before}; write Name(pattern)", offset=at)
    opened, depth = at, 0
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    if depth:
        return ToolFault(message="this parenthesis is never closed", offset=opened)
    if not text[opened + 1 : at - 1].strip():
        return ToolFault(
            message=f"the parentheses are empty; write {text[start:opened]} for the whole tool", offset=opened
        )
    if at < len(text) and text[at] not in " \t\r\n,":
        return ToolFault(message="text follows the closing parenthesis; separate tokens by a space", offset=at)
    return at
