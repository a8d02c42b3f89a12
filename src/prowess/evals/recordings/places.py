"""Paths that differ between executions of a unit, such as the workspace, written by name in recorded requests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def with_names(text: str, places: Mapping[str, str]) -> str:
    """Return JSON text in which each path of `places` is replaced by a mark with its name, longer paths first."""
    for path, name in sorted(places.items(), key=lambda pair: len(pair[0]), reverse=True):
        # Not the beginning of another name, such as `/work2`.
        text = re.sub(rf"{re.escape(_inside_json(path))}(?![\w-])", _mark(name), text)
    return text


def with_paths(text: str, places: Mapping[str, str]) -> str:
    """Return recorded JSON text with the paths of this execution."""
    for path, name in places.items():
        text = text.replace(_mark(name), _inside_json(path))
    return text


def _mark(name: str) -> str:
    return f"{{{{prowess:{name}}}}}"


def _inside_json(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)[1:-1]
