"""Who votes in this process, and whether this person is an author of a skill.

On a machine without a server, the voter is the user who logged in. If root runs the command, this is the user whom the
kernel recorded at the login, else the one that sudo names. A system account, or one that cannot log in, is a service:
it never counts as a person.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from prowess._internal.process_user import login
from prowess.policy.approvals.statements import Voter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format.skill import Skill
    from prowess.governance.service.service_call import Actor

_LOGIN_UID = "/proc/self/loginuid"
_NO_LOGIN = 2**32 - 1
_FIRST_PERSON = 500 if sys.platform == "darwin" else 1000  # the user ids below belong to the system
_NO_SHELLS = frozenset({"nologin", "false", "sync", "halt", "shutdown"})
_NAME = re.compile(r"[^\s,;<>()]+")


def voter_of(actor: Actor) -> Voter:
    """Return the voter that an actor is. A machine never counts as a person."""
    by = "system" if actor.identified_by == "host" else actor.identified_by
    return Voter(user=actor.user, kind="service" if actor.is_machine else "person", identified_by=by)


def present_voter() -> Voter:
    """Return the person who runs this process, or the service."""
    if sys.platform == "win32":
        return Voter(user=login() or "unknown")
    import pwd  # Imported here, not at the top: the module does not exist on Windows.

    uid = os.getuid()
    for other in (_logged_in(), os.environ.get("SUDO_UID", "")) if uid == 0 else ():
        try:
            return _voter(pwd.getpwuid(int(other)))
        except (KeyError, ValueError):
            continue
    try:
        return _voter(pwd.getpwuid(uid))
    except KeyError:  # the account is not known
        return Voter(user=f"user {uid}", uid=uid, kind="service")


def _voter(account: object) -> Voter:
    name, uid, shell = (getattr(account, field) for field in ("pw_name", "pw_uid", "pw_shell"))
    is_service = uid != 0 and (uid < _FIRST_PERSON or os.path.basename(shell) in _NO_SHELLS)
    return Voter(user=name, uid=uid, kind="service" if is_service else "person")


def _logged_in() -> str:
    try:
        with open(_LOGIN_UID, encoding="ascii") as file:
            text = file.read().strip()
    except OSError:
        return ""
    return "" if text in {str(_NO_LOGIN), "0"} else text


def authorship(voter: Voter, skill: Skill, signer: str | None, *, by_owner: bool) -> str | None:
    """Return why the voter is an author of the skill; None if there is no evidence.

    Evidence is the name in `metadata.author` or `author`, the key of the signature, and, if `by_owner`, the ownership
    of a file. What a skill states can make a person an author, but never free one from it.
    """
    if voter.key is not None and signer is not None and voter.key in signer.split():
        return "the skill is signed with the same key"
    if voter.user.casefold() in set(_stated_authors(skill)):
        return "the skill names this person as its author"
    if by_owner and voter.uid and any(uid == voter.uid for uid in _owners(skill)):
        return "files of the skill belong to this person"
    return None


def _stated_authors(skill: Skill) -> Iterator[str]:
    """Yield the words of the stated authors, and the local parts of their addresses, without case."""
    front = skill.frontmatter
    for text in (front.metadata.get("author"), front.metadata.get("authors"), front.raw.get("author")):
        for word in _NAME.findall(str(text or "")):
            yield word.casefold()
            yield word.partition("@")[0].casefold()


def _owners(skill: Skill) -> Iterator[int]:
    for file in skill.manifest.files:
        try:
            yield os.lstat(os.path.join(skill.root_dir, file.path)).st_uid
        except OSError:
            continue
