"""Path patterns of a settings file, by the rules of .gitignore.

vendor        a file or directory of that name at any depth, and everything below it
docs/*        what is directly in docs
docs/**       everything below docs
.             everything
"""

from __future__ import annotations

from prowess._internal.globs import PathGlob, path_components

_MAX_COMPONENTS = 64


def path_setting(source: str) -> PathGlob:
    """Return the pattern; a path is meant if `matches_or_lies_below` holds for it.

    Raises:
        ValueError: it is empty, climbs with `..`, or is longer than any path; the text names the fault.
    """
    text = source.strip()
    if not text:
        raise ValueError("a pattern is empty; write . for everything")
    parts = path_components(text)
    if ".." in parts:
        raise ValueError(f"{source!r} climbs out of the directory of the file; patterns go down from there")
    if len(parts) > _MAX_COMPONENTS:
        raise ValueError(f"a pattern has {len(parts)} parts, at most {_MAX_COMPONENTS} are allowed")
    return PathGlob.parse(text, floating=True)
