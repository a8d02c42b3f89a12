"""The settings for a buffer: those that `prowess check` finds in the folder of the workspace that holds the file.

Settings that cannot be read do not silence the editor: the defaults judge, and a notice says why.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.config import Configuration
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement

    Silence = Callable[[SkillDocument, Judgement, Sequence[Diagnostic]], Sequence[Diagnostic]]
    Load = Callable[[str], tuple[Configuration, Silence]]


class Settings(Struct, frozen=True, kw_only=True):
    """What was read, what leaves out the findings that comments silence, and why it could not be read, if so."""

    configuration: Configuration
    silence: Silence
    problem: str | None


def folder_of(path: str, folders: Iterable[str]) -> str:
    """Return the innermost of the folders that holds a file, else the directory around its skill."""
    above = [folder for folder in folders if _holds(folder, path)]
    return max(above, key=len) if above else os.path.dirname(os.path.dirname(path))


def read_settings(load: Load, folder: str) -> Settings:
    """Load the settings of a folder; with a problem they are the defaults."""
    try:
        configuration, silence = load(folder)
        return Settings(configuration=configuration, silence=silence, problem=None)
    except (SkillError, OSError, ValueError) as fault:
        return Settings(configuration=Configuration(()), silence=_keep_all, problem=str(fault))


def _keep_all(document: SkillDocument, judgement: Judgement, findings: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    del document, judgement
    return findings


def _holds(folder: str, path: str) -> bool:
    return path.startswith(folder if folder.endswith(os.sep) else f"{folder}{os.sep}")
