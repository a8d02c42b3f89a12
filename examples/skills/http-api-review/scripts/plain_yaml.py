"""Plain YAML: block mappings and lists, scalars, literal and folded text, and JSON-like values on one line.

That is what API descriptions are written in. Anchors, aliases, tags, merge keys, several documents, tabs that indent
and values that run over several lines are refused with the line, because a guess would be worse than a message.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'\[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(?P<rest>.*))?\Z"""
)
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")
FLOW = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\[\]{},]|:(?=[\s"'\[{},]|\Z)"""
    r"""|(?:[^\s\[\]{},:]|:(?=[^\s,}\]])| (?=[^\[\]{},:\s]))+)\s*"""
)
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
MAX_DEPTH = 100


class PlainYamlError(ValueError):
    """Something outside the subset; the message begins with the line."""


@dataclass
class _Line:
    number: int
    indent: int
    text: str


def parse(text: str) -> object:
    """Return the value of a plain YAML text.

    Raises:
        PlainYamlError: where it uses more than the subset.
    """
    reader = _Reader(text)
    value = reader.value(0, 0) if reader.lines else None
    if reader.at < len(reader.lines):
        reader.refuse(reader.lines[reader.at], "the indentation does not fit")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.raw = text.splitlines()
        self.lines: list[_Line] = []
        self.at = 0
        for number, raw in enumerate(self.raw, 1):
            stripped = raw.strip()
            if stripped and not stripped.startswith("#") and not (stripped == "---" and not self.lines):
                self.lines.append(_Line(number, len(raw) - len(raw.lstrip(" ")), stripped))

    def refuse(self, line: _Line, reason: str) -> None:
        message = f"line {line.number}: {reason}"
        raise PlainYamlError(message)

    def value(self, indent: int, depth: int) -> object:
        """Read the block that starts at the current line with at least this indentation."""
        line = self.lines[self.at]
        if depth > MAX_DEPTH:
            self.refuse(line, f"more than {MAX_DEPTH} levels")
        if line.text.startswith("\t"):
            self.refuse(line, "a tab indents")
        if line.indent < indent:
            return None
        if line.text == "-" or line.text.startswith("- "):
            return self.sequence(line.indent, depth)
        if KEY.match(_uncommented(line.text)):
            return self.mapping(line.indent, depth)
        self.at += 1
        return self.scalar(line, _uncommented(line.text))

    def sequence(self, indent: int, depth: int) -> list[object]:
        items: list[object] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.indent != indent or not (line.text == "-" or line.text.startswith("- ")):
                break
            rest = line.text[1:].lstrip()
            if not rest or rest.startswith("#"):
                self.at += 1
                deeper = self.at < len(self.lines) and self.lines[self.at].indent > indent
                items.append(self.value(indent + 1, depth + 1) if deeper else None)
            elif _is_block(rest):
                self.at += 1
                items.append(self.block(line, rest, indent))
            else:  # the item goes on in this line: read on as if its text stood alone, further right
                self.lines[self.at] = _Line(line.number, indent + len(line.text) - len(rest), rest)
                items.append(self.value(indent + 1, depth + 1))
        return items

    def mapping(self, indent: int, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while self.at < len(self.lines) and self.lines[self.at].indent == indent:
            line = self.lines[self.at]
            match = KEY.match(_uncommented(line.text))
            if match is None:
                self.refuse(line, "a key with a colon is expected")
            key = str(self.scalar(line, match["key"])) if match["key"][0] in "\"'" else match["key"]
            if key in found or key == "<<":
                self.refuse(line, f"the key {key!r} " + ("merges" if key == "<<" else "occurs twice"))
            rest = match["rest"] or ""
            self.at += 1
            if _is_block(rest):
                found[key] = self.block(line, rest, indent)
            elif rest:
                found[key] = self.scalar(line, rest)
            else:
                found[key] = self.below(indent, depth)
        return found

    def below(self, indent: int, depth: int) -> object:
        if self.at >= len(self.lines):
            return None
        line = self.lines[self.at]
        listed = line.indent == indent and (line.text == "-" or line.text.startswith("- "))
        return self.value(line.indent, depth + 1) if line.indent > indent or listed else None

    def block(self, line: _Line, header: str, indent: int) -> str:
        """Read literal (|) or folded (>) text from the raw lines below `line`."""
        rows: list[str] = []
        number = line.number
        while number < len(self.raw):
            raw = self.raw[number]
            if raw.strip() and len(raw) - len(raw.lstrip(" ")) <= indent:
                break
            rows.append(raw)
            number += 1
        while self.at < len(self.lines) and self.lines[self.at].number <= number:
            self.at += 1
        margin = min((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), default=0)
        text = "\n".join(row[margin:].rstrip() for row in rows).rstrip("\n")
        if header.startswith(">"):
            if re.search(r"^ ", text, re.MULTILINE):
                self.refuse(line, "folded text with lines that are indented further")
            text = re.sub(r"\n+", lambda found: found[0][1:] or " ", text)
        return text if "-" in header or not text else text + "\n"

    def scalar(self, line: _Line, text: str) -> object:
        if text[:1] in "&*!%@`" and text:
            self.refuse(line, f"{text.split(maxsplit=1)[0]!r} is outside plain YAML")
        if text[:1] == '"':
            return self.json(line, text)
        if text[:1] == "'":
            if len(text) == 1 or text[-1] != "'":
                self.refuse(line, "the quote does not end in this line")
            return text[1:-1].replace("''", "'")
        if text[:1] in "[{" and text:
            return self.flow(line, text)
        if text in WORDS:
            return WORDS[text]
        return json.loads(text) if NUMBER.match(text) else text

    def flow(self, line: _Line, text: str) -> object:
        """Read `[a, b]` and `{a: b}`, nested as they like, from one line."""
        tokens = FLOW.findall(text)
        if "".join(tokens).replace(" ", "") != text.replace(" ", ""):
            self.refuse(line, "the value is outside plain YAML")
        value = self.flow_value(line, tokens, 0)
        if tokens:
            self.refuse(line, "something follows the closing bracket")
        return value

    def flow_value(self, line: _Line, tokens: list[str], depth: int) -> object:
        first = tokens.pop(0).strip() if tokens else ""
        if first not in ("[", "{"):
            if not first or first in "]},:":
                self.refuse(line, "a bracket does not end in this line")
            return self.scalar(line, first)
        if depth > MAX_DEPTH:
            self.refuse(line, f"more than {MAX_DEPTH} levels")
        items: list[object] = []
        pairs: dict[str, object] = {}
        while tokens and tokens[0] not in "]}":
            item = self.flow_value(line, tokens, depth + 1)
            items.append(item)
            if first == "{":
                if not tokens or tokens.pop(0) != ":":
                    self.refuse(line, "a key without a value")
                empty = tokens and tokens[0] in ",}"
                pairs[str(item)] = None if empty else self.flow_value(line, tokens, depth + 1)
            if tokens and tokens[0] == ",":
                tokens.pop(0)
        if not tokens or tokens.pop(0) != {"[": "]", "{": "}"}[first]:
            self.refuse(line, "a bracket does not end in this line")
        return pairs if first == "{" else items

    def json(self, line: _Line, text: str) -> object:
        try:
            return json.loads(text)
        except ValueError:
            self.refuse(line, "the value is neither plain nor JSON, or does not end in this line")


def _is_block(text: str) -> bool:
    return bool(re.fullmatch(r"[|>][+-]?\s*(#.*)?", text))


def _uncommented(text: str) -> str:
    """Drop a comment at the end: a # after a blank, outside quotes."""
    quote = ""
    for index, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and (index == 0 or text[index - 1] in " :[{,"):
            quote = sign
        elif sign == "#" and index and text[index - 1] in " \t":
            return text[:index].rstrip()
    return text
