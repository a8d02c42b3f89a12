"""The enrolment of this machine in an organisation: `/etc/prowess/enterprise.toml`, of `prowess machine enroll`.

    url = "https://prowess.example.com"
    key = "example.com+0a1b2c3d+AbCd..."    # verifies the bundles of the organisation
    tenant = "default"
    team = "data"                           # team and environment are optional
    environment = "production"

It counts only if root alone can change it. This module imports little, so that listing skills stays fast.
"""

from __future__ import annotations

import os
import shlex
from typing import Literal

from prowess._internal.files.file_mark import Mark, mark_of
from prowess._internal.places import BUNDLE_FOLDER, ENROLMENT_FILE, EXPIRES_FILE, SIGNED_BUNDLE, weakness_above

_ROOT = 0
_KEYS = ("url", "key", "tenant", "team", "environment")
_NEEDED = _KEYS[:3]


class Enrolment:
    """The facts of an enrolment. `team` and `environment` are None if the machine was given none."""

    __slots__ = _KEYS

    def __init__(
        self, *, url: str, key: str, tenant: str, team: str | None = None, environment: str | None = None
    ) -> None:
        self.url, self.key, self.tenant = url, key, tenant
        self.team, self.environment = team, environment


def enrolment() -> Enrolment | None:
    """Return the enrolment of this machine; None if it is not enrolled.

    Raises:
        ValueError: the file is damaged, or someone else than root could change it.
    """
    try:
        mark = mark_of(os.lstat(ENROLMENT_FILE))
    except OSError:
        return None
    if (known := _known.get(ENROLMENT_FILE)) is None or known[0] != mark:
        known = _known[ENROLMENT_FILE] = mark, _read()
    return known[1]


_known: dict[str, tuple[Mark, Enrolment]] = {}  # the content read last, with its mark


def _read() -> Enrolment:
    if (weakness := weakness_above(ENROLMENT_FILE, _ROOT)) is not None:
        raise ValueError(f"{ENROLMENT_FILE}: someone else than root could change it: {weakness}")
    import tomllib  # Imported here, not at the top: few machines are enrolled.

    try:
        with open(ENROLMENT_FILE, "rb") as file:
            found = tomllib.load(file)
    except (OSError, ValueError) as fault:
        raise ValueError(f"{ENROLMENT_FILE}: {fault}") from None
    if not all(name in _KEYS and isinstance(value, str) and value for name, value in found.items()):
        raise ValueError(f"{ENROLMENT_FILE}: its keys are {', '.join(_KEYS)}, each a text")
    if missing := [name for name in _NEEDED if name not in found]:
        raise ValueError(f"{ENROLMENT_FILE}: {missing[0]} is missing; run `prowess machine enroll` again")
    return Enrolment(**found)


def server_options(policy_file: str) -> str | None:
    """Return the options that name the server of the organisation, if its bundle has this policy file; else None."""
    if os.path.dirname(policy_file) != BUNDLE_FOLDER:
        return None
    try:
        found = enrolment()
    except ValueError:
        found = None
    return f"--server {'URL' if found is None else shlex.quote(found.url)}"


def given_to_machine(name: Literal["tenant", "team", "environment"]) -> str | None:
    """Return a fact that the organisation gave this machine, else None. The policy reports a damaged file."""
    try:
        found = enrolment()
    except ValueError:
        return None
    return None if found is None else getattr(found, name)


def render_enrolment(found: Enrolment) -> bytes:
    """Return the text of the file."""
    import json  # a basic string of TOML with these escapes is a string of JSON

    values = ((name, getattr(found, name)) for name in _KEYS)
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values if value is not None).encode()


def bundle_fault() -> str | None:
    """Return why the bundle of an enrolled machine cannot be trusted; None if it can."""
    if not os.path.lexists(BUNDLE_FOLDER):
        return f"{BUNDLE_FOLDER} is missing: this machine is enrolled, and has no bundle yet; run `prowess machine run`"
    weakness = weakness_above(os.path.join(BUNDLE_FOLDER, SIGNED_BUNDLE), _ROOT)
    if weakness is not None:
        return f"the bundle of this machine is not trusted: {weakness}"
    while True:  # again if another version took its place meanwhile
        folder = os.path.realpath(BUNDLE_FOLDER)
        changed = changed_files(folder)
        if os.path.realpath(BUNDLE_FOLDER) == folder:
            break
    if not changed:
        return None
    return f"{BUNDLE_FOLDER}/{changed[0]} is not as the organisation signed it; `prowess machine run` restores it"


def changed_files(folder: str) -> list[str]:
    """Return the names of the files in the directory of a bundle that are not those of the signed bundle in it.

    The signature is not verified here: `prowess machine run` does, and other processes trust it as a file of root. A
    file that somebody changed beside it is noticed by both.
    """
    import json  # Imported here, not at the top: few machines are enrolled.

    try:
        with open(os.path.join(folder, SIGNED_BUNDLE), "rb") as file:
            signed = json.loads(file.read())["files"]
        there = {*os.listdir(folder)} - {SIGNED_BUNDLE, EXPIRES_FILE}
        return sorted(name for name in {*signed, *there} if _content(folder, name) != signed.get(name, b""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [SIGNED_BUNDLE]


def _content(folder: str, name: str) -> str | None:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError:
        return None
