"""Every spelling of a source that a rule may use, so that no spelling leads around a rule.

    acme/skills/pdf, git+ssh://git@github.com/acme/skills, https://github.com/Acme/Skills/tree/main/pdf

These are one repository. Its names are its reference as a lock has it, its URL with and without `git+` and `.git`, host
and path, `owner/repo` for code hosts, each also without the directory in it. Code hosts ignore the case of names, so
these are added in lower case. An archive that a code host makes of a repository has the names of that repository. A
site or an archive is also named without its query, and a site with a slash at its end. A local path is added with its
directories above it.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prowess.errors import InvalidArgumentsError
from prowess.lockfile.source_reference import CODE_HOSTS, parse_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lockfile.source_reference import SourceReference

_SHORT_HOST = "github.com"
_OTHER_HOSTS = {  # other servers of the same repositories
    "ssh.github.com": _SHORT_HOST,
    "www.github.com": _SHORT_HOST,
    "codeload.github.com": _SHORT_HOST,
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_OWNER_AND_NAME = 2  # components of the path of a repository on a code host
_HUBS = ("docker.io", "index.docker.io", "registry-1.docker.io")


def source_names(reference: SourceReference) -> tuple[str, ...]:
    """Return the names of a source, the one that locks have first."""
    return tuple(dict.fromkeys(_names(reference)))


@lru_cache(maxsize=4096)
def names_in_lock(source: str, lock: str) -> tuple[str, ...]:
    """Return the names of a source that the lock at this path has; only its text if it is no source."""
    try:
        return source_names(parse_reference(source, base=os.path.dirname(lock), has_version=False))
    except InvalidArgumentsError:
        return (source,)


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
        registry, _, repository = location.partition("/")
        for name in _HUBS if registry in _HUBS else (registry,):
            yield from (f"{name}/{repository}", f"oci://{name}/{repository}")
    elif reference.kind in {"index", "archive"}:
        yield from _of_site(location, is_site=reference.kind == "index")
    elif reference.kind == "git":
        parts = urlsplit(location)
        server = f"{parts.scheme}://{parts.netloc}"
        yield from _of_repository(parts.hostname or "", parts.path.strip("/"), reference.path, server)


def _of_site(location: str, *, is_site: bool) -> Iterator[str]:
    parts = urlsplit(location)
    plain = f"{parts.scheme}://{parts.netloc}{re.sub('//+', '/', parts.path).rstrip('/')}"
    yield plain
    if is_site:
        yield f"{plain}/"
    host = _OTHER_HOSTS.get(parts.hostname or "", parts.hostname or "")
    if host in CODE_HOSTS and parts.path.count("/") > _OWNER_AND_NAME:
        path = "/".join(parts.path.strip("/").split("/")[:_OWNER_AND_NAME])
        yield from _of_repository(host, path, "", f"https://{host}")


def _of_repository(named: str, path: str, below: str, server: str) -> Iterator[str]:
    host = _OTHER_HOSTS.get(named, named)
    for name in dict.fromkeys((path, path.lower()) if host in CODE_HOSTS else (path,)):
        yield from (f"{url}{host}/{name}{end}" for url in ("https://", "git+https://") for end in (".git", "/"))
        yield from (f"git@{host}:{name}", f"git@{host}:{name}.git")
    ways = (f"{path}/{below}".rstrip("/"), path)
    for way in dict.fromkeys((*ways, *(way.lower() for way in ways if host in CODE_HOSTS))):
        yield from (f"{host}/{way}", f"https://{host}/{way}", f"git+https://{host}/{way}")
        yield from (f"{server}/{way}", f"git+{server}/{way}")
        if host == _SHORT_HOST:
            yield way
