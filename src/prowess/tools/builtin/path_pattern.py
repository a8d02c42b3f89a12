"""Path patterns of the file tools: globs from the directory of the search, with `{a,b}` for either of both."""

from __future__ import annotations

import re

from prowess._internal.globs import PathGlob, path_components
from prowess.errors import InvalidArgumentsError

MAX_ALTERNATIVES = 64
MAX_LENGTH = 1000


def parse_pattern(text: str) -> PathGlob:
    """Read a pattern of a model; `*` matches names that begin with a dot, too.

    Raises:
        InvalidArgumentsError: it is empty, too long, leads upwards, or stands for too many patterns.
    """
    if not text.strip("/") or len(text) > MAX_LENGTH or "\0" in text:
        raise InvalidArgumentsError((f"pattern must have 1 to {MAX_LENGTH} characters, such as '**/*.py'",))
    alternatives = _without_braces(text)
    if any(".." in path_components(plain) for plain in alternatives):
        raise InvalidArgumentsError(("pattern must not hold '..'; give the directory as path",))
    return PathGlob.parse(*alternatives)


def _without_braces(text: str) -> list[str]:
    """Return the patterns that `{a,b}` stands for, the innermost braces first."""
    done: list[str] = []
    pending = [text]
    while pending:
        if len(done) + len(pending) > MAX_ALTERNATIVES:
            raise InvalidArgumentsError(
                (f"pattern stands for more than {MAX_ALTERNATIVES} patterns; use fewer braces",)
            )
        current = pending.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if match is None:
            done.append(current)
        else:
            pending += [current[: match.start()] + each + current[match.end() :] for each in match[1].split(",")]
    return done
