"""Reports of hosts about their release, in `hosts/ID.json` of a deployment repository that it can write.

The reports are not signed. They tell an administrator which hosts are behind, and decide nothing.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, json

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from prowess.distribution.deployment.repository import DeploymentRepository

_FOLDER = "hosts"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST = 4096  # bytes of a report


class HostReport(Struct, frozen=True, kw_only=True):
    """The last report of one host. `at` is its time (UTC, ISO 8601)."""

    host: str
    release: int | None
    at: str


def is_host_id(text: str) -> bool:
    """Whether a text can be the identifier of a host: a letter or digit, then up to 99 of `A-Z a-z 0-9 . _ -`."""
    return _ID.fullmatch(text) is not None


def report_host(repository: DeploymentRepository, host: str, release: int | None) -> None:
    """Write the report of a host. Raises OSError if the repository cannot be written."""
    report = HostReport(host=host, release=release, at=datetime.now(UTC).isoformat(timespec="seconds"))
    write_atomically(repository.path(_FOLDER, f"{host}.json"), json.encode(report), 0o644)


def reported_hosts(repository: DeploymentRepository) -> tuple[HostReport, ...]:
    """Return the last report of each host, sorted. Files that are no report are left out."""
    found: list[HostReport] = []
    if not os.path.isdir(repository.path(_FOLDER)):
        return ()
    with ContainedRoot(repository.directory) as root:
        for name, _ in root.entries(_FOLDER):
            host = name.removesuffix(".json")
            if host == name or not is_host_id(host):
                continue
            try:
                with root.open(f"{_FOLDER}/{name}") as opened:
                    report = json.decode(opened.read(_MOST), type=HostReport)
            except (OSError, UnsafePathError, DecodeError):
                continue
            if report.host == host:
                found.append(report)
    return tuple(sorted(found, key=lambda report: report.host))
