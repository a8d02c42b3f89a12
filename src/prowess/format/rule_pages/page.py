"""One page of documentation: what a rule does, why it matters, an example that breaks it, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """The four sections, each a paragraph of Markdown."""

    what: str
    why: str
    example: str
    instead: str
