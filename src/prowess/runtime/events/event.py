"""What happens in a session, as values: one class for each kind of event.

An event has the kind of the audit record that tells the same, so the two can be laid side by side by `call_id`. It
holds names, digests, counts and codes, and neither arguments nor results nor instructions: it may be shown, kept and
sent away without telling what a skill or a model said. `script.output` alone holds what a script wrote. Platform
requirements 003, skill activation during streaming.
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
    """What all events have.

    `sequence` counts the events of one session from 1; it is 0 for an event that could not be kept. `call_id` is the
    tool call that it belongs to, None where it belongs to none. `skill` and `digest` are the skill that it is about,
    or under which a tool was called, and the digest of what was loaded.
    """

    kind: ClassVar[str] = ""  # of a subclass its name, as `skill.loaded`
    verbatim: ClassVar[frozenset[str]] = frozenset()  # fields that are not made one printable line

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
        """A line to show while it happens, for the kinds that have one."""
        return None

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON: `kind` first, `at` as RFC 3339 in UTC with microseconds."""
        value: dict[str, object] = {"kind": self.kind}
        for name in _NAMES[self.kind]:
            value[name] = _plain(getattr(self, name))
        if (message := self.message) is not None:
            value["message"] = message
        return value


class SkillLoading(SessionEvent, frozen=True, kw_only=True):
    """A skill was asked for and is about to be read; `digest` is not known yet."""

    @property
    def message(self) -> str | None:
        """The announcement of platform requirements 003."""
        return loading_message(self.skill or "")


class SkillActivating(SessionEvent, frozen=True, kw_only=True):
    """A skill was read and is about to take effect: none of its hooks has run and nothing of it is shown."""

    @property
    def message(self) -> str | None:
        """The line of platform requirements 003."""
        return activating_message(self.skill or "")


class SkillLoaded(SessionEvent, frozen=True, kw_only=True):
    """A skill is in force."""


class SkillUnloaded(SessionEvent, frozen=True, kw_only=True):
    """A skill is no longer in force; `reason` is `unloaded`, `replaced`, `removed` (from the catalog) or `closed`."""

    reason: str = "unloaded"


class ToolStarted(SessionEvent, frozen=True, kw_only=True):
    """A call passed every gate, and the tool runs."""

    tool: str = ""


class ToolFinished(SessionEvent, frozen=True, kw_only=True):
    """A tool came back; `outcome` is `success`, `failure` or `cancelled`, `code` that of the error."""

    tool: str = ""
    outcome: str = "success"
    code: str | None = None
    duration_ms: int = 0


class ToolRefused(SessionEvent, frozen=True, kw_only=True):
    """A call did not reach its tool; `rule` names what refused it, where a rule did."""

    tool: str = ""
    code: str = ""
    rule: str | None = None


class RestrictionPrevented(SessionEvent, frozen=True, kw_only=True):
    """The `allowed-tools` of a skill prevented a call; follows its `tool.refused`. `reason` is the rule."""

    tool: str = ""
    reason: str | None = None


class RestrictionChanged(SessionEvent, frozen=True, kw_only=True):
    """What restricts calls is another than before; `restricting` are the skills that do, none where none does."""

    restricting: tuple[str, ...] = ()


class ResourceRead(SessionEvent, frozen=True, kw_only=True):
    """A file of a skill was read; `path` is relative to the skill."""

    path: str = ""


class ScriptStarted(SessionEvent, frozen=True, kw_only=True):
    """A script goes to the sandbox; `path` is relative to the skill."""

    path: str = ""


class ScriptOutput(SessionEvent, frozen=True, kw_only=True):
    """A script wrote `text` to `stream`, `stdout` or `stderr`: at most 16,384 characters, as they are.

    The texts of one stream, joined, are that stream in the result.
    """

    verbatim: ClassVar[frozenset[str]] = frozenset({"text"})

    path: str = ""
    stream: str = "stdout"
    text: str = ""


class ScriptFinished(SessionEvent, frozen=True, kw_only=True):
    """A script ended; `exit_code` is None where it did not run to an end."""

    path: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    duration_ms: int = 0


class CommandStarted(SessionEvent, frozen=True, kw_only=True):
    """A command in the body of a skill goes to the sandbox."""

    program: str = ""


class CommandFinished(SessionEvent, frozen=True, kw_only=True):
    """A command in the body of a skill ended."""

    program: str = ""
    exit_code: int | None = None


class HookStarted(SessionEvent, frozen=True, kw_only=True):
    """A hook goes to the sandbox; `event` is what it hooks into, `hook` its program."""

    event: str = ""
    hook: str = ""


class HookFinished(SessionEvent, frozen=True, kw_only=True):
    """A hook ended."""

    event: str = ""
    hook: str = ""
    exit_code: int | None = None


class HookFailed(SessionEvent, frozen=True, kw_only=True):
    """A hook failed where nothing was left to stop."""

    event: str = ""
    code: str = ""


class ForkStarted(SessionEvent, frozen=True, kw_only=True):
    """A skill runs in a sub-agent; its own events bear `child_session_id` as their session."""

    child_session_id: str = ""
    depth: int = 1


class ForkFinished(SessionEvent, frozen=True, kw_only=True):
    """A sub-agent came back after `turns`, or failed with `code`."""

    child_session_id: str = ""
    depth: int = 1
    turns: int | None = None
    code: str | None = None


class SessionClosed(SessionEvent, frozen=True, kw_only=True):
    """The session ended; nothing follows."""


class EventsDropped(SessionEvent, frozen=True, kw_only=True):
    """`count` events up to `sequence` are missing here: the reader was too slow, or they are no longer kept."""

    count: int = 0


KINDS: Mapping[str, type[SessionEvent]] = {made.kind: made for made in SessionEvent.__subclasses__()}


def loading_message(name: str) -> str:
    """Return the text that announces an activation (platform requirements 003)."""
    return f'The "{name}" skill is loading'


def activating_message(name: str) -> str:
    """Return the line that a stream shows before a skill takes effect (platform requirements 003)."""
    return f"Activating '{name}' skill…"


def from_dict(value: Mapping[str, Any], sequence: int) -> SessionEvent:
    """Return the event that `as_dict` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is none of this version's kinds.
    """
    made = KINDS[value["kind"]]
    given = {name: value[name] for name in _NAMES[made.kind] if name in value}
    given = {name: tuple(item) if isinstance(item, list) else item for name, item in given.items()}
    given["at"] = datetime.fromisoformat(value["at"])
    return made(**{**given, "sequence": sequence})


def moment(seconds: float) -> datetime:
    """Return a time of the host's clock as events have it."""
    return datetime.fromtimestamp(seconds, UTC)


def text(value: str) -> str:
    """Return a text as one printable line of bounded length."""
    return printable_line(value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}…")


def bounded(value: object) -> object:
    """Return a value for a field: texts as one printable line of bounded length, lists of bounded length."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, tuple):
        items = tuple(bounded(item) for item in value[:MAX_ITEMS])
        return items if len(value) <= MAX_ITEMS else (*items, "…")
    return value


# Once, and not for each event.
_NAMES = {made.kind: made.__struct_fields__ for made in KINDS.values()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return list(value) if isinstance(value, tuple) else value
