"""Every spelling of a source that a rule may use, so that no spelling leads around a rule.

    acme/skills/pdf, git+ssh://git@github.com/acme/skills, https://github.com/Acme/Skills/tree/main/pdf

These are one repository. Its names are its reference as a lock has it, its URL with and without `git+`, host and path,
`owner/repo` for code hosts, each also without the directory in it. Code hosts ignore the case of names, so these are
added in lower case. A local path is added with its directories above it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.distribution.sources.reference import SourceReference

_SHORT_HOST = "github.com"
_IGNORE_CASE = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"})


def source_names(reference: SourceReference) -> tuple[str, ...]:
    """Return the names of a source, the one that locks have first."""
    return tuple(dict.fromkeys(_names(reference)))


def _names(reference: SourceReference) -> Iterator[str]:
    yield reference.source
    location = reference.location
    if reference.is_local:
        for path in dict.fromkeys((location, os.path.realpath(location))):
            while path != os.path.dirname(path):
                yield path
                path = os.path.dirname(path)  # noqa: PLW2901 -- upwards
        return
    if reference.kind == "oci":
        yield from (location, f"oci://{location}")
    if reference.kind != "git":
        return
    parts = urlsplit(location)
    host, path = parts.hostname or "", parts.path.strip("/")
    ways = (f"{path}/{reference.path}".rstrip("/"), path)
    for way in dict.fromkeys((*ways, *(way.lower() for way in ways if host in _IGNORE_CASE))):
        yield from (f"{host}/{way}", f"https://{host}/{way}", f"git+https://{host}/{way}")
        yield f"{parts.scheme}://{parts.netloc}/{way}"
        yield f"git+{parts.scheme}://{parts.netloc}/{way}"
        if host == _SHORT_HOST:
            yield way
