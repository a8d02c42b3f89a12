"""Who a record is about: keys that the data of every record of a session has, null if they are not known.

`user`, `uid`, `host`, `client`, `agent` and `tenant` are of whoever calls; `layer`, `source`, `skill` and `digest` are
of the skill that the record is about. If a call is about several skills, each of these four is a list.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.audit.record import AuditEvent, AuditLog, AuditRecord

SKILL_KEYS = ("layer", "source", "skill", "digest")


class Caller(Struct, frozen=True, kw_only=True):
    """Who calls: `user` is a login, over HTTP the name of a token; `uid` and `host` are those of this process.

    `client` is the program as it names itself, `agent` the type of the agent, `tenant` the part of an organisation.
    """

    user: str | None = None
    uid: int | None = None
    host: str | None = None
    client: str | None = None
    agent: str | None = None
    tenant: str | None = None

    @classmethod
    def here(cls) -> Self:
        """Return the user of this process, as the system knows it; a variable of the environment could name anybody."""
        if sys.platform == "win32":
            return cls(user=login(), host=os.environ.get("COMPUTERNAME"))
        return cls(user=login(), uid=os.getuid(), host=os.uname().nodename)


CALLER_KEYS = Caller.__struct_fields__
_NOTHING_KNOWN: Mapping[str, object] = dict.fromkeys((*CALLER_KEYS, *SKILL_KEYS))


def login() -> str | None:
    """Return the name of this process's user; None for one without an entry, as in a container."""
    if sys.platform == "win32":
        return os.getlogin()
    # Imported here, not at the top: no other system has it.
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def with_keys(event: AuditEvent, caller: Caller, about: Mapping[str, object] | None = None) -> AuditEvent:
    """Return an event whose data has every key; `about` is what is known of its skill beside the data."""
    return replace(event, data={**_NOTHING_KNOWN, **asdict(caller), **(about or {}), **event.data})


class CallerLog:
    """An audit log that writes to `wrapped`, with the keys of `caller` in every record.

    `about` returns what is known of the skill of this name (`layer`, `source`, `digest`) where a record names it alone.
    """

    def __init__(self, wrapped: AuditLog, caller: Caller, about: Callable[[str], Mapping[str, object]]) -> None:
        self.wrapped, self.caller, self._about = wrapped, caller, about

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record; AuditError as from `wrapped`."""
        name = event.data.get("skill")
        alone = isinstance(name, str) and "layer" not in event.data
        return self.wrapped.append(with_keys(event, self.caller, self._about(str(name)) if alone else None))
