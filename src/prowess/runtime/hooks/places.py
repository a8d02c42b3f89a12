"""Resolves the files that a hook names to paths in the sandbox: in its skill, other skills, and the workspace.

A hook may run a script of another listed skill. It names the script by a path relative to its own skill
(`${CLAUDE_SKILL_DIR}/../careful/bin/x.sh`) or by a usual installation path (`$HOME/.claude/skills/careful/bin/x.sh`).
Its scripts may name other skills in the same two forms. If the policy permits those skills, verified copies of them are
mounted at these paths. No other files of the machine are mounted.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import SkillError, UnsafePathError
from prowess.execution.environment import HOME, PLUGIN_DATA, SKILL
from prowess.format.fields.hook_command import file_of_skill
from prowess.runtime.scripts import Mount, file_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.format.fields.hook_command import Base, HookWord
    from prowess.format.fields.hooks import Hook
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.state import ActiveSkill

_INTERPRETERS = ("bash", "sh", "python3", "python", "node", "ruby", "perl")
_BESIDE = "/skills"  # in the sandbox, the parent directory of the hook's skill and of skills beside it
_MAX_MOUNTS = 16
_READ_BYTES = 64 * 1024  # of a script that are searched for names of skills
_NAMED_BESIDE = re.compile(r"\.\./([A-Za-z0-9_-][A-Za-z0-9._-]*)/([A-Za-z0-9._/-]*)")
_NAMED_AT_HOME = re.compile(r"(?:\$HOME|\$\{HOME\}|~)/([A-Za-z0-9._/-]+)")


class HookProgram(Struct, frozen=True, kw_only=True):
    """A hook's command for the sandbox: arguments, skills to mount, and environment variables with their paths."""

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    env: Mapping[str, str]


class HookPlaces:
    """Resolves the files of one hook. Methods may read the disk and block."""

    def __init__(
        self, skill: ActiveSkill, manifest: TreeManifest, offered: Visibility, programs: SkillPrograms
    ) -> None:
        self._manifest, self._offered, self._programs = manifest, offered, programs
        self._root, self.own = skill.root_dir, os.path.basename(skill.root_dir)
        self._skills: dict[str, Mount | None] = {}  # by directory name; `place` is set when mounted
        self._mounts: dict[str, Mount] = {}
        self._seen: set[tuple[str, str]] = set()

    def has(self, directory: str, path: str) -> bool:
        """Whether the skill in the directory of this name has a file or directory at this path."""
        skill = self._skill(directory)
        if skill is None:
            return False
        found = file_of(skill.manifest, path) is not None
        return found or any(file.path.startswith(f"{path}/") for file in skill.manifest.files)

    def obstacle(self, hook: Hook) -> str | None:
        """Return why a hook cannot run, or None. Raise PolicyDeniedError if a policy permits only other directories."""
        if self._programs.sandbox is None:
            return "cannot be run: scripts are switched off in this session"
        if (fault := hook.fault(self.own, self.has)) is not None:
            return fault.reason
        words = hook.read.words
        for number, word in enumerate(words):
            place = file_of_skill(word, self.own, self.has)
            # Check every word: `python3 hooks/check.py` also runs the file in its second word.
            path = place.path if place is not None else file_of(self._manifest, word.text or "")
            if path is not None:
                self._programs.rules.require_hook(path, path.split("/"))
                continue
            # The program must exist. A file passed as an argument need not: the program may create it.
            runs = number == 0 or (number == 1 and words[0].text in _INTERPRETERS)
            if runs and word.path is not None and not self._in_workspace(word.path[1]):
                return f"names a file that the workspace does not have: {word.written}"
        return None

    def program(self, hook: Hook) -> HookProgram:
        """Return the command of a hook. Call it only if `obstacle` returned None."""
        for word in hook.read.words:
            self._look_for_skills(word)
        base = f"{_BESIDE}/{self.own}" if self._mounts else SKILL
        if self._mounts:
            self._mount(self.own, base)
        directory = self._programs.directory
        values: dict[Base, str] = {"skill": base, "plugin": base, "project": directory, "home": HOME}
        env = {"CLAUDE_SKILL_DIR": base, "CLAUDE_PLUGIN_ROOT": base}
        if self._programs.workspace is not None:
            env |= {"CLAUDE_PROJECT_DIR": directory, **PLUGIN_DATA}
        first, *rest = hook.read.words
        argv = (self._word(first, values), *(self._argument(word, values) for word in rest))
        return HookProgram(argv=argv, mounts=tuple(self._mounts.values()), env=env)

    def _word(self, word: HookWord, values: Mapping[Base, str]) -> str:
        place = file_of_skill(word, self.own, self.has)
        if place is None or (word.path is not None and word.path[0] == "home"):
            return word.valued(values)
        if place.skill != self.own:
            return f"{_BESIDE}/{place.skill}/{place.path}"
        return f"{values['skill']}/{place.path}" if self._mounts else place.path

    def _argument(self, word: HookWord, values: Mapping[Base, str]) -> str:
        own = file_of(self._manifest, word.text or "")
        return self._word(word, values) if own is None else f"{values['skill']}/{own}"

    def _in_workspace(self, parts: tuple[str, ...]) -> bool:
        workspace = self._programs.workspace
        return workspace is not None and ".." not in parts and os.path.exists(os.path.join(workspace, *parts))

    def _skill(self, directory: str) -> Mount | None:
        if directory == self.own:
            return Mount(root_dir=self._root, manifest=self._manifest, place=SKILL)
        if directory not in self._skills:
            entry = self._offered.beside(self._root, directory)
            self._skills[directory] = None
            with suppress(SkillError):
                if entry is not None:
                    skill = self._offered.catalog.skill(entry.name, entry.location)
                    self._skills[directory] = Mount(root_dir=skill.root_dir, manifest=skill.manifest, place="")
        return self._skills[directory]

    def _mount(self, directory: str, place: str) -> None:
        skill = self._skill(directory)
        if skill is not None and len(self._mounts) < _MAX_MOUNTS:
            self._mounts[place] = Mount(root_dir=skill.root_dir, manifest=skill.manifest, place=place)

    def _look_for_skills(self, word: HookWord) -> None:
        own = f"{_BESIDE}/{self.own}"
        place = file_of_skill(word, self.own, self.has)
        if word.path is not None and word.path[0] == "home":
            self._named_at_home("/".join(word.path[1]))
        elif place is not None:
            self._named(place.skill, f"{_BESIDE}/{place.skill}", place.path)
        elif (path := file_of(self._manifest, word.text or "")) is not None:
            self._named(self.own, own, path)
        elif word.text is not None:  # such as the script text of `bash -c`
            self._named_in(word.text, own)

    def _named_at_home(self, path: str) -> None:
        parts = path.split("/")
        for at in range(len(parts) - 1):
            if self.has(parts[at], "/".join(parts[at + 1 :])):
                self._mount(parts[at], f"{HOME}/{'/'.join(parts[: at + 1])}")
                self._named(parts[at], f"{HOME}/{'/'.join(parts[: at + 1])}", "/".join(parts[at + 1 :]))
                return

    def _named(self, directory: str, place: str, path: str) -> None:
        """Mount the skill that contains the file `place`/`path`, then mount the skills that this file names."""
        if (place, path) in self._seen:
            return
        self._seen.add((place, path))
        if place != f"{_BESIDE}/{self.own}":
            self._mount(directory, place)
        skill = self._skill(directory)
        if skill is None or file_of(skill.manifest, path) is None:
            return
        # Only names are taken from the text. The files that are mounted are compared with the manifest.
        with (
            suppress(OSError, UnsafePathError),
            ContainedRoot(skill.root_dir) as root,
            root.open(path, allow_hard_links=skill.manifest.is_recorded) as file,
        ):
            self._named_in(file.read(_READ_BYTES).decode("utf-8", "replace"), place)

    def _named_in(self, text: str, place: str) -> None:
        """Mount the skills that a text names. The text belongs to the skill mounted at `place`."""
        for directory, path in _NAMED_BESIDE.findall(text):
            if self.has(directory, path.rstrip("/")):
                self._named(directory, f"{os.path.dirname(place)}/{directory}", path.rstrip("/"))
        for path in _NAMED_AT_HOME.findall(text):
            self._named_at_home(path.rstrip("/"))
