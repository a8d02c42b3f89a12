"""`prowess check PATH...` where nobody has set anything: the same report without the command line's library.

Options, settings, profiles and selections take longer to import than a skill takes to judge. So this module looks first
whether there are any: an option beyond those of the form and the summary, a variable, a file of settings. Skills that
are plainly valid are judged without building their documents, and all others as ever. Wherever something else is asked
for, or anything is not certain, `plain_check` returns None before it has printed anything, and the command does it all.
A test holds both ways against each other: output, remarks and exit code.
"""

from __future__ import annotations

import gc
import os
import stat

from prowess._internal.open_flags import READ
from prowess._internal.places import prowess_home
from prowess._internal.settings_places import OWN_FILE, SHARED_FILE, USER_FILE, upwards
from prowess._internal.shared_settings import may_set
from prowess.cli import exit_codes, output
from prowess.cli.judged_skill import checked_skill, in_order, judged_findings
from prowess.cli.skill_sets import findings_between, is_folder_of_skills
from prowess.errors import SkillError
from prowess.format.limits import MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.plain_document import plain_document
from prowess.format.skill_directories import find_skill_directories, kinds_of
from prowess.lint.plain_linting import plain_findings
from prowess.report.forms import render

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.report import CheckedSkill
    from prowess.rule_engine import Judgement

_FILE = "SKILL.md"
_FORMS = ("text", "json")
_VARIABLES = ("PROWESS_", "_PROWESS_")  # settings, and a shell that asks for completions
_NO_SETTINGS = frozenset({"PROWESS_HOME"})
_COMMENT = b"prowess:"  # may ask for silence, and settings say whether it is heard


class _Asked:
    """What the words of a command line ask for; `form` is None where it is left open."""

    __slots__ = ("exit_zero", "form", "isolated", "paths", "quiet")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.form = "text"
        self.isolated = self.quiet = self.exit_zero = False


class _NotPlain(Exception):  # noqa: N818 -- a signal inside this module, not an error
    """The command has to do it."""


def plain_check(arguments: Sequence[str]) -> int | None:
    """Carry out `check` with these arguments, those behind the command; None where the command has to do it."""
    asked = _asked(arguments)
    if asked is None or any(name.startswith(_VARIABLES) and name not in _NO_SETTINGS for name in os.environ):
        return None
    collecting = gc.isenabled()
    gc.disable()  # what is made here holds no cycles and is needed to the end
    try:
        return _checked(asked)
    except KeyboardInterrupt:
        output.note("\ninterrupted")
        return exit_codes.INTERRUPTED
    finally:
        if collecting:
            gc.enable()


def _checked(asked: _Asked) -> int | None:
    try:
        if not asked.isolated and _has_settings():
            return None
        skills = _judged(asked.paths or ["."])
        report = render(asked.form, skills, style=output.styled, summary=not asked.quiet)
    except (OSError, SkillError, _NotPlain):
        return None  # the command finds the same, and says it
    try:
        output.raw(report)
    except OSError as fault:
        output.error(f"{fault.filename}: {fault.strerror}")
        return exit_codes.FAILED
    return exit_codes.OK if asked.exit_zero or all(skill.valid for skill in skills) else exit_codes.FAILED


def _asked(arguments: Sequence[str]) -> _Asked | None:
    asked = _Asked()
    as_json = False
    rest = iter(arguments)
    for word in rest:
        if word == "--json":
            as_json = True
        elif word == "--format":
            asked.form = next(rest, "")
        elif word.startswith("--format="):
            asked.form = word.removeprefix("--format=")
        elif word == "--isolated":
            asked.isolated = True
        elif word == "--exit-zero":
            asked.exit_zero = True
        elif word in {"-q", "--quiet"}:
            asked.quiet = True
        elif not word or word[0] == "-":
            return None
        else:
            asked.paths.append(word)
    if asked.form not in _FORMS:
        return None
    asked.form = "json" if as_json else asked.form
    return asked


def _has_settings() -> bool:
    """Whether there is a file that could set anything, of the project or the user's."""
    for directory in upwards(os.path.realpath(os.getcwd())):
        shared = os.path.join(directory, SHARED_FILE)
        if os.path.lexists(os.path.join(directory, OWN_FILE)):
            return True
        if os.path.lexists(shared) and may_set(_bytes_of(shared)):
            return True
    return os.path.lexists(os.path.join(prowess_home(), USER_FILE))


def _judged(paths: Sequence[str]) -> list[CheckedSkill]:
    judgement: Judgement | None = None
    skills: list[CheckedSkill] = []
    for directory in _directories(paths):
        skill = _plainly(directory)
        if skill is None:
            judgement = judgement or _as_the_profile_says()
            skill = _at_length(directory, judgement)
        skills.append(skill)
    whole = any(map(is_folder_of_skills, paths))
    if judgement is not None or len(skills) > 1 or whole:
        between = findings_between(skills, [judgement or _as_the_profile_says()] * len(skills), whole=whole)
        for at, found in between.items():
            skills[at] = skills[at]._replace(diagnostics=(*skills[at].diagnostics, *found))
    return skills


def _directories(paths: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            found = find_skill_directories(path)
            if found.notes:
                raise _NotPlain
            directories = found.paths or (path,)
        elif os.path.lexists(path) and os.path.basename(path).lower() == "skill.md":
            directories = (os.path.dirname(path) or ".",)
        else:
            raise _NotPlain
        for directory in directories:
            key = os.path.abspath(directory)  # a skill that two arguments name is checked once
            if key not in seen:
                seen.add(key)
                yield directory


def _plainly(directory: str) -> CheckedSkill | None:
    """Judge a skill that is plainly valid; None where it may not be."""
    absolute = os.path.abspath(directory)
    try:
        top = kinds_of(absolute)
        if top.get(_FILE) != "file" or MANIFEST_FILE in top:
            return None
        data = _bytes_of(os.path.join(absolute, _FILE))
    except (OSError, _NotPlain):
        return None  # said at length
    if _COMMENT in data:
        raise _NotPlain
    path = os.path.normpath(os.path.join(directory, _FILE))
    document = plain_document(data, path=path, directory=absolute)
    return None if document is None else checked_skill(document, plain_findings(document, top))


def _bytes_of(path: str) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: it cannot be read.
        _NotPlain: it is a link, no file, too large, or was written to meanwhile.
    """
    descriptor = os.open(path, READ)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_DOCUMENT_BYTES:
            raise _NotPlain
        data = os.read(descriptor, found.st_size + 1)
        if len(data) != found.st_size:
            raise _NotPlain
        return data
    finally:
        os.close(descriptor)


def _at_length(directory: str, judgement: Judgement) -> CheckedSkill:
    # Imported here, not at the top: many sets of skills are plainly valid.
    from prowess.format.reading import document_at, locate

    located = locate(directory, shown_as=os.path.normpath(directory))
    if _COMMENT in located.data:
        raise _NotPlain
    document = document_at(located)
    return checked_skill(document, in_order(judged_findings(document, judgement), judgement))


def _as_the_profile_says() -> Judgement:
    """Return what the settings mean where nothing is set."""
    # Imported here, not at the top: a plain skill is judged without.
    from prowess.format.profiles import PROFILES
    from prowess.rule_engine.judgement import Judgement

    return Judgement(profile=PROFILES["spec"])
