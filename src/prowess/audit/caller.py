"""The caller and the skill of a record: keys in the data of every record of a session, null if unknown.

`user`, `identified_by`, `team`, `roles`, `uid`, `host`, `client`, `agent`, `tenant` and `environment` describe the
caller. `layer`, `source`, `skill`, `digest` and `publisher` describe the skill that the record is about. If a call is
about several skills, each of these keys is a list. `tool`, `rule`, `approval` and `trigger` describe the call: `rule`
decided about it, `approval` is the id of the request that a person answered or has to answer, and `trigger` is who
started it.
"""

from __future__ import annotations

import os
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from prowess._internal.process_user import login
from prowess.audit.record import is_in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.audit.record import AuditEvent, AuditLog, AuditRecord

IdentifiedBy = Literal["system", "token", "login", "host"]
SKILL_KEYS = ("layer", "source", "skill", "digest", "publisher")
CALL_KEYS = ("tool", "rule", "approval", "trigger")


class Caller(Struct, frozen=True, kw_only=True):
    """The caller of a session.

    `user` is a login name, or over HTTP the name of a token. `uid` and `host` are those of this process. `client` is
    the name that the client program gives itself, `agent` the type of the agent, `tenant` the part of an organisation,
    `environment` a name such as `production`. `identified_by` states who vouches for `user`, `team` and `roles`: the
    `system`, a verified `token` or `login`, or the `host`, whose word is not verified.
    """

    user: str | None = None
    identified_by: IdentifiedBy | None = None
    team: str | None = None
    roles: tuple[str, ...] | None = None
    uid: int | None = None
    host: str | None = None
    client: str | None = None
    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None

    @classmethod
    def here(cls) -> Self:
        """Return the user of this process, from the operating system: environment variables can be forged."""
        if sys.platform == "win32":
            return cls(user=login(), identified_by="system", host=os.environ.get("COMPUTERNAME"))
        return cls(user=login(), identified_by="system", uid=os.getuid(), host=os.uname().nodename)


CALLER_KEYS = Caller.__struct_fields__
_NOTHING_KNOWN: Mapping[str, object] = dict.fromkeys((*CALLER_KEYS, *SKILL_KEYS, *CALL_KEYS))


def with_keys(event: AuditEvent, caller: Caller, about: Mapping[str, object] | None = None) -> AuditEvent:
    """Return the event with the caller's keys and those of `about` in its data. Values that exist already are kept."""
    return replace(event, data={**_NOTHING_KNOWN, **asdict(caller), **(about or {}), **event.data})


class CallerLog:
    """An audit log that writes to `wrapped` and adds the keys of `caller` to every record.

    If a record names one skill without details, `about(name)` provides them: `layer`, `source` and `digest`.
    `requester` are further values of facts about the caller that rules match, such as the process's user. They are
    recorded under this name if there are any.
    """

    def __init__(
        self,
        wrapped: AuditLog,
        caller: Caller,
        about: Callable[[str], Mapping[str, object]],
        requester: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.wrapped, self.caller, self.requester, self._about = wrapped, caller, requester, about

    @property
    def in_use(self) -> bool:
        """Whether `wrapped` is in use now."""
        return is_in_use(self.wrapped)

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record; raises AuditError as `wrapped` does."""
        name = event.data.get("skill")
        alone = isinstance(name, str) and "layer" not in event.data
        about = self._about(str(name)) if alone else {}
        if self.requester:
            about = {**about, "requester": {fact: list(values) for fact, values in self.requester.items()}}
        return self.wrapped.append(with_keys(event, self.caller, about))
