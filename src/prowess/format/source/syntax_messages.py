"""What is wrong with a piece of YAML, said so that an author knows what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import MAX_DEPTH, MAX_NODES

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import YamlFault

_HAZARDS = {
    "alias": "an alias (*name) is not allowed here; write the value out, or quote it if it is text",
    "anchor": "an anchor (&name) is not allowed here; quote the value if it is text",
    "tag": "a tag (!name) is not allowed here; quote the value if it is text",
    "merge key": "a merge key (<<) is not allowed here; write the entries out",
    "document": "a second YAML document starts here; the frontmatter is one document",
    "depth": f"this is nested deeper than {MAX_DEPTH} levels",
    "nodes": f"the frontmatter holds more than {MAX_NODES} values",
}

# libyaml's phrase -> ours. The first that is contained wins.
_SYNTAX = (
    ("mapping values are not allowed", 'a value with ": " must be quoted'),
    ("block sequence entries are not allowed", 'a value that starts with "- " must be quoted'),
    ("mapping keys are not allowed", 'a value that starts with "? " must be quoted'),
    ("found unexpected end of stream", "the quote that opens here is never closed"),
    ("found unexpected document indicator", "the quote that opens here is never closed"),
    ("expected ',' or", "the bracket that opens here is never closed"),
    ("unknown escape character", "a backslash in double quotes must be doubled"),
    ("did not find expected hexdecimal number", "a backslash in double quotes must be doubled"),
    ("did not find expected comment or line break", "a value that starts with > or | must be quoted"),
    ("could not find expected ':'", 'this line is neither "key: value" nor indented as part of the value above'),
    ("found a tab character", "a tab indents this line; indent with blanks"),
    ("did not find expected alphabetic or numeric character", "a value that starts with * or & must be quoted"),
    ("did not find expected key", "text follows the end of this value; quote the whole value"),
    ("did not find expected <document start>", "this belongs to no entry; the frontmatter is one mapping"),
)


def describe(fault: YamlFault, text: str) -> str:
    """Return one sentence for `fault`; its offset counts in `text`."""
    if fault.construct == "control character":
        return f"control character U+{ord(text[fault.offset]):04X} is not allowed; remove it"
    if fault.construct in _HAZARDS:
        return _HAZARDS[fault.construct]
    if "cannot start any token" in fault.problem:
        char = text[fault.offset : fault.offset + 1]
        if char == "\t":
            return "a tab indents this line; indent with blanks"
        return f"a value that starts with {char!r} must be quoted"
    return next((ours for phrase, ours in _SYNTAX if phrase in fault.problem), f"this is not YAML: {fault.problem}")
