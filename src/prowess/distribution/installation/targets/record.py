"""The record of what a scope has put into its targets: `states/…/targets.json` in the home."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.open_flags import READ
from prowess._internal.places import ensure_private_directory

if TYPE_CHECKING:
    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.installation.targets.copies import Record

_FILE = "targets.json"
_MOST_BYTES = 64 * 1024 * 1024


def read_record(scope: InstallScope) -> Record:
    """Return the record. A missing or damaged one is empty, so that everything found counts as drifted, and is kept."""
    try:
        descriptor = os.open(os.path.join(scope.history, _FILE), READ)
    except OSError:
        return {}
    try:
        found = json.loads(read_at_most(descriptor, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    finally:
        os.close(descriptor)
    if not isinstance(found, dict):
        return {}
    return {
        path: tuple(contents)
        for path, contents in found.items()
        if isinstance(contents, list) and all(isinstance(content, str) for content in contents)
    }


def write_record(scope: InstallScope, record: Record, stage: Stage) -> None:
    """Replace the record. Raises OSError."""
    ensure_private_directory(scope.history)
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    stage.replace_file(os.path.join(scope.history, _FILE), text.encode("utf-8", "surrogateescape"), 0o600)
