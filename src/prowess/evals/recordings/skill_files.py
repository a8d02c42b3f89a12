"""Digests of the files of skills, by which a recording is found to be stale."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import read_tree

if TYPE_CHECKING:
    from collections.abc import Iterable


def skill_files(directories: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of every file of these skills, by `DIRECTORY/PATH`. The directory of evals does not count.

    Raises:
        LimitExceededError: a skill has more files or bytes than can be read.
        OSError: a directory cannot be read.
    """
    return {
        f"{os.path.basename(os.path.abspath(directory))}/{file.path}": file.sha256
        for directory in directories
        for file in read_tree(directory).files
        if not file.path.startswith("evals/")
    }
