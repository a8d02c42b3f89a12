"""Event types of a session: one class per kind of event.

An event has the same kind as the audit record of the same fact; `call_id` joins the two. Events contain names, digests,
counts and codes, but no arguments, results or instructions. They can be shown, kept and sent elsewhere without
revealing the texts of skills or models. The only exception is `script.output`, which holds the output of a script.
Platform requirements 003, skill activation during streaming.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT = 256  # characters of one text in an event
MAX_ITEMS = 64  # items of one list in an event


class SessionEvent(Struct, frozen=True, kw_only=True):
    """Fields of all events.

    `sequence` counts the events of one session from 1; 0 means that the event could not be kept. `at` is the time in
    UTC. `call_id` is the tool call that the event belongs to; None if there is none. `skill` is the skill concerned, or
    the skill that a tool call belongs to; `digest` is its digest when it was loaded.
    """

    kind: ClassVar[str] = ""  # set for each subclass from its name: SkillLoaded is `skill.loaded`
    verbatim: ClassVar[frozenset[str]] = frozenset()  # fields kept as they are, not as one printable line

    session_id: str
    sequence: int
    at: datetime
    call_id: str | None = None
    skill: str | None = None
    digest: str | None = None

    def __init_subclass__(cls, **config: Any) -> None:  # noqa: ANN401 -- passed on to msgspec
        super().__init_subclass__(**config)
        cls.kind = "".join(f".{char.lower()}" if char.isupper() else char for char in cls.__name__)[1:]

    @property
    def message(self) -> str | None:
        """A line to show to the user; None for kinds that have none."""
        return None

    def as_dict(self) -> dict[str, object]:
        """Return the event as JSON data: `kind` first, `at` as RFC 3339 in UTC with microseconds."""
        value: dict[str, object] = {"kind": self.kind}
        for name in _NAMES[self.kind]:
            value[name] = _plain(getattr(self, name))
        if (message := self.message) is not None:
            value["message"] = message
        return value


class SkillLoading(SessionEvent, frozen=True, kw_only=True):
    """A skill was requested and is about to be read. `digest` is not known yet."""

    @property
    def message(self) -> str | None:
        """The line that platform requirements 003 demands."""
        return loading_message(self.skill or "")


class SkillActivating(SessionEvent, frozen=True, kw_only=True):
    """A skill was read and is about to be activated. Its hooks have not run, and its body is not disclosed yet."""

    @property
    def message(self) -> str | None:
        """The line that platform requirements 003 demands."""
        return activating_message(self.skill or "")


class SkillLoaded(SessionEvent, frozen=True, kw_only=True):
    """A skill is active."""


class SkillUnloaded(SessionEvent, frozen=True, kw_only=True):
    """A skill is no longer active. `reason` is `unloaded`, `replaced`, `removed` (from the catalog) or `closed`."""

    reason: str = "unloaded"


class ToolStarted(SessionEvent, frozen=True, kw_only=True):
    """A call has passed all gates, and the tool starts."""

    tool: str = ""


class ToolFinished(SessionEvent, frozen=True, kw_only=True):
    """A tool has finished. `outcome` is `success`, `failure` or `cancelled`; `code` is the error code."""

    tool: str = ""
    outcome: str = "success"
    code: str | None = None
    duration_ms: int = 0


class ToolRefused(SessionEvent, frozen=True, kw_only=True):
    """A call was refused before it reached its tool. `rule` names the rule that refused it, if it was one."""

    tool: str = ""
    code: str = ""
    rule: str | None = None


class RestrictionPrevented(SessionEvent, frozen=True, kw_only=True):
    """The `allowed-tools` of a skill prevented a call. Follows the `tool.refused` of the call. `reason` is the rule."""

    tool: str = ""
    reason: str | None = None


class RestrictionChanged(SessionEvent, frozen=True, kw_only=True):
    """The restrictions on tool calls changed. `restricting` names the skills that restrict calls now."""

    restricting: tuple[str, ...] = ()


class ResourceRead(SessionEvent, frozen=True, kw_only=True):
    """A file of a skill was read; `path` is relative to the skill."""

    path: str = ""


class ScriptStarted(SessionEvent, frozen=True, kw_only=True):
    """A script starts in the sandbox. `path` is relative to the skill."""

    path: str = ""


class ScriptOutput(SessionEvent, frozen=True, kw_only=True):
    """A script wrote at most 16,384 characters to `stream`. The joined texts equal that stream in the result."""

    verbatim: ClassVar[frozenset[str]] = frozenset({"text"})

    path: str = ""
    stream: str = "stdout"
    text: str = ""


class ScriptFinished(SessionEvent, frozen=True, kw_only=True):
    """A script ended. `exit_code` is None if it was stopped before its end."""

    path: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    duration_ms: int = 0


class CommandStarted(SessionEvent, frozen=True, kw_only=True):
    """A command in the body of a skill starts in the sandbox."""

    program: str = ""


class CommandFinished(SessionEvent, frozen=True, kw_only=True):
    """A command in the body of a skill ended."""

    program: str = ""
    exit_code: int | None = None


class HookStarted(SessionEvent, frozen=True, kw_only=True):
    """A hook starts in the sandbox. `event` is the hook's event; `hook` is its program."""

    event: str = ""
    hook: str = ""


class HookFinished(SessionEvent, frozen=True, kw_only=True):
    """A hook ended."""

    event: str = ""
    hook: str = ""
    exit_code: int | None = None


class HookFailed(SessionEvent, frozen=True, kw_only=True):
    """A hook failed when its event could no longer be stopped. `code` is the error code."""

    event: str = ""
    code: str = ""


class ForkStarted(SessionEvent, frozen=True, kw_only=True):
    """A skill starts in a sub-agent. The sub-agent's events have `child_session_id` as their `session_id`."""

    child_session_id: str = ""
    depth: int = 1


class ForkFinished(SessionEvent, frozen=True, kw_only=True):
    """A sub-agent finished after `turns` turns, or failed with the error `code`."""

    child_session_id: str = ""
    depth: int = 1
    turns: int | None = None
    code: str | None = None


class CatalogChanged(SessionEvent, frozen=True, kw_only=True):
    """Skills were added, changed or removed on disk. Each field has their names. Emitted while a session watches."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class SessionClosed(SessionEvent, frozen=True, kw_only=True):
    """The session ended. This is its last event."""


class EventsDropped(SessionEvent, frozen=True, kw_only=True):
    """`count` events up to `sequence` are missing: the reader was too slow, or the store no longer has them."""

    count: int = 0


KINDS: Mapping[str, type[SessionEvent]] = {made.kind: made for made in SessionEvent.__subclasses__()}


def loading_message(name: str) -> str:
    """Return the line shown when a skill is about to be read (platform requirements 003)."""
    return f'The "{name}" skill is loading'


def activating_message(name: str) -> str:
    """Return the line shown when a skill is about to be activated (platform requirements 003)."""
    return f"Activating '{name}' skill…"


def from_dict(value: Mapping[str, Any], sequence: int) -> SessionEvent:
    """Return the event that `as_dict` converted. Raise KeyError, TypeError or ValueError if its form is unknown."""
    made = KINDS[value["kind"]]
    given = {name: value[name] for name in _NAMES[made.kind] if name in value}
    given = {name: tuple(item) if isinstance(item, list) else item for name, item in given.items()}
    given["at"] = datetime.fromisoformat(value["at"])
    return made(**{**given, "sequence": sequence})


def moment(seconds: float) -> datetime:
    """Convert seconds of the host's clock to the time of an event."""
    return datetime.fromtimestamp(seconds, UTC)


def text(value: str) -> str:
    """Convert a text to one printable line of limited length."""
    return printable_line(value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}…")


def bounded(value: object) -> object:
    """Limit a field's value: texts to one printable line of limited length, lists to a limited number of items."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, tuple):
        items = tuple(bounded(item) for item in value[:MAX_ITEMS])
        return items if len(value) <= MAX_ITEMS else (*items, "…")
    return value


_NAMES = {made.kind: made.__struct_fields__ for made in KINDS.values()}  # computed once, not per event


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return list(value) if isinstance(value, tuple) else value
