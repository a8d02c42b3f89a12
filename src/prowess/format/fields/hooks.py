"""Hooks: scripts and commands that a skill wants to run on certain events, read from the field `hooks`.

`pre` and `post` run before and after an activation and name scripts of the skill. Every other key is an event. The
hooks of an event may have a matcher for tool names, `once` and a timeout. Both notations in use are read: a flat list
of hooks, and a list of matchers with inner lists of hooks. A hook often is a guard, so an unreadable hook is never
dropped silently: it is a fault, and the caller sees that the hooks are incomplete.

Agent skills platform, fields `hooks.pre` and `hooks.post`; event names as agents in use spell them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess._internal.globs import fits_stars
from prowess.errors import UnsafePathError
from prowess.format.fields.hook_command import HookCommand, HookWord, file_of_skill, read_command, read_words
from prowess.format.fields.value_readers import (
    is_blank,
    kind,
    named,
    read_seconds,
    read_switch,
    read_text,
    read_texts,
    report_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format.fields.hook_command import Has
    from prowess.format.fields.value_readers import Faults, Path

HOOK_EVENTS = (
    "pre", "post", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop",
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreCompact", "PermissionRequest", "Notification",
)  # fmt: skip
MAX_HOOK_SECONDS = 600.0  # our limit: the longest default of an agent in use

_NOT_OBEYED = {
    "if": "the hook runs for every call",
    "async": "Prowess waits for the hook",
    "asyncRewake": "Prowess waits for the hook",
}
_KEYS = ("type", "script", "command", "args", "shell", "matcher", "once", "timeout", "statusMessage", *_NOT_OBEYED)
_IGNORED = "; it is ignored"
_MATCHER = r"[A-Za-z0-9_.:/*-]+(?:\|[A-Za-z0-9_.:/*-]+)*\Z"
NOT_THERE = "names a file that the skill does not contain"


class Hook(Struct, frozen=True, kw_only=True):
    """One hook: exactly one of `script` and `command` is set.

    `script` is a path relative to the skill, `command` a command line as written. If `args` is set, `command` is only
    the program, and `args` are its arguments. `matcher` is `None` if the hook applies to every tool; otherwise tool
    names joined by `|`, with `*` for any characters. `timeout` is in seconds; `None` leaves it to the host.
    """

    event: str
    script: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    matcher: str | None = None
    once: bool = False
    timeout: float | None = None

    @property
    def read(self) -> HookCommand:
        """The parsed words to run, script or program first, with their variables."""
        if self.script is not None:
            return HookCommand(words=(HookWord(parts=(self.script,)),))
        return read_command(self.command or "") if self.args is None else read_words((self.command or "", *self.args))

    @property
    def argv(self) -> tuple[str, ...] | None:
        """The words as strings; `None` if the command contains variables or needs a shell."""
        texts = [text for word in self.read.words if (text := word.text) is not None]
        return tuple(texts) if texts and len(texts) == len(self.read.words) else None

    def fault(self, own: str, has: Has) -> HookFault | None:
        """Return why the hook can never run, wherever its skill is installed; `None` if no such reason is known.

        `own` is the name of the skill's directory. `has(directory, path)` returns whether the skill in that directory
        has the file. A file of the project is assumed to exist.
        """
        command = self.read
        if command.fault is not None:
            return HookFault(reason=command.fault)
        for place, word in enumerate(command.words):
            if word.path is not None:
                known = word.path[0] == "project" or file_of_skill(word, own, has) is not None
            else:
                text = word.text or ""
                named = place == 0 and (self.script is not None or text.startswith("./"))
                known = not named or has(own, text.removeprefix("./"))
            if not known:
                return HookFault(reason=NOT_THERE, missing=word.written)
        return None

    def matches(self, tool: str) -> bool:
        """Whether the hook applies to this tool. Whole names are compared, ignoring case: models write `bash`."""
        parts = () if self.matcher is None else self.matcher.casefold().split("|")
        return self.matcher is None or any(fits_stars(tool.casefold(), part) for part in parts)


class HookFault(Struct, frozen=True, kw_only=True):
    """A reason why a hook cannot be run; `missing` is the file that does not exist, or `None` for other reasons."""

    reason: str
    missing: str | None = None


class Hooks(Struct, frozen=True, kw_only=True):
    """The hooks of a skill. If not `complete`, do not activate the skill: a hook that cannot be read may be a guard."""

    entries: tuple[Hook, ...] = ()
    complete: bool = True

    @property
    def pre(self) -> tuple[Hook, ...]:
        """Hooks that run before the instructions take effect."""
        return self.of("pre")

    @property
    def post(self) -> tuple[Hook, ...]:
        """Hooks that run when the skill has finished."""
        return self.of("post")

    def of(self, event: str, tool: str | None = None) -> tuple[Hook, ...]:
        """Return the hooks of an event. With `tool`, return only hooks that apply to that tool."""
        return tuple(hook for hook in self.entries if hook.event == event and (tool is None or hook.matches(tool)))


def read_hooks(value: object, faults: Faults) -> Hooks:
    """Read the field `hooks`. Problems are added to `faults`; unreadable hooks are left out."""
    if is_blank(value):
        return Hooks()
    if not isinstance(value, dict):
        message = f"hooks is {kind(value)}, it must be a mapping such as pre: scripts/check.sh"
        faults.add("hooks.type", message, ("hooks",))
        return Hooks(complete=False)
    before = len(faults.found)
    entries = tuple(hook for event, listed in value.items() for hook in _event(str(event), listed, faults))
    return Hooks(entries=entries, complete=all(fault.rule == "hooks.value" for fault in faults.found[before:]))


def _event(event: str, listed: object, faults: Faults) -> Iterator[Hook]:
    path: Path = ("hooks", event)
    if event not in HOOK_EVENTS:
        meant = next((known for known in HOOK_EVENTS if known.lower() == event.lower()), None)
        hint = f"did you mean {meant}?" if meant else f"events: {', '.join(HOOK_EVENTS)}"
        faults.add("hooks.event", f"no event is called {kind(event)}; {hint}", path, on_key=True)
    elif isinstance(listed, list | tuple):
        for index, entry in enumerate(listed):
            yield from _entry(event, entry, (*path, index), faults)
    elif not is_blank(listed):
        yield from _entry(event, listed, path, faults)


def _entry(event: str, entry: object, path: Path, faults: Faults) -> Iterator[Hook]:
    """Read an entry: a script's path, a hook, or a matcher with an inner list of hooks."""
    outer = Hook(event=event)
    if not isinstance(entry, dict) or "hooks" not in entry:
        if (hook := _hook(outer, entry, path, faults)) is not None:
            yield hook
        return
    report_unknown(entry, ("matcher", "once", "timeout", "hooks"), "hooks.value", path, faults, then=_IGNORED)
    outer = _settings(outer, entry, path, faults)
    inner = entry["hooks"]
    if not isinstance(inner, list | tuple):
        faults.add("hooks.type", f"{named((*path, 'hooks'))} is {kind(inner)}, it must be a list", (*path, "hooks"))
        return
    for index, one in enumerate(inner):
        if (hook := _hook(outer, one, (*path, "hooks", index), faults)) is not None:
            yield hook


def _hook(outer: Hook, entry: object, path: Path, faults: Faults) -> Hook | None:
    if not isinstance(entry, dict):
        return _script(outer, entry, path, faults)
    report_unknown(entry, _KEYS, "hooks.value", path, faults, then=_IGNORED)
    sort = entry.get("type", "command")
    if sort not in ("command", "script"):
        message = f"{named((*path, 'type'))} is {kind(sort)}; only hooks of type command can be run"
        faults.add("hooks.type", message, (*path, "type"))
        return None
    if ("script" in entry) == ("command" in entry):
        faults.add("hooks.type", f"{named(path)} needs one of script and command", path)
        return None
    hook = _settings(outer, entry, path, faults)
    if "script" in entry:
        return _script(hook, entry["script"], (*path, "script"), faults)
    command = read_text(entry["command"], "hooks.type", (*path, "command"), faults)
    args = read_texts(entry["args"], "hooks.type", (*path, "args"), faults) if "args" in entry else None
    if (shell := entry.get("shell", "bash")) != "bash":
        faults.add("hooks.type", f"{named((*path, 'shell'))} is {kind(shell)}; it can be bash", (*path, "shell"))
        return None
    return None if command is None or (args is None and "args" in entry) else replace(hook, command=command, args=args)


def _script(hook: Hook, value: object, path: Path, faults: Faults) -> Hook | None:
    script = read_text(value, "hooks.type", path, faults)
    if script is None:
        return None
    try:
        parts = check_relative(script)
    except UnsafePathError as fault:
        faults.add("hooks.path", f"{named(path)} cannot be a file of the skill: {fault.reason}", path)
        return None
    if not parts:
        faults.add("hooks.path", f"{named(path)} is the skill's directory, it must be a file", path)
        return None
    return replace(hook, script="/".join(parts))


def _settings(hook: Hook, entry: dict[str, object], path: Path, faults: Faults) -> Hook:
    """Read matcher, `once` and timeout. An unreadable one is ignored, so that a guard runs more often, not less."""
    if "matcher" in entry:
        hook = replace(hook, matcher=_matcher(entry["matcher"], (*path, "matcher"), faults))
    if "once" in entry:
        once = read_switch(entry["once"], "hooks.value", (*path, "once"), faults)
        hook = replace(hook, once=once is True)
    for key, instead in _NOT_OBEYED.items():
        if key in entry:
            message = f"{named((*path, key))} is not supported: {instead}"
            faults.add("hooks.value", message, (*path, key), on_key=True)
    if "timeout" in entry:
        place: Path = (*path, "timeout")
        timeout = read_seconds(entry["timeout"], "hooks.value", place, faults, most=MAX_HOOK_SECONDS)
        hook = replace(hook, timeout=timeout)
    return hook


def _matcher(value: object, path: Path, faults: Faults) -> str | None:
    if is_blank(value):
        return None
    text = _plain_names(value.replace(" ", "")) if isinstance(value, str) else ""
    if re.match(_MATCHER, text) is None:
        message = f"{named(path)} is {kind(value)}, it must be tool names joined by |, with * for any characters"
        faults.add("hooks.value", f"{message}; every tool is matched", path)
        return None
    return None if text.strip("*") == "" else text


def _plain_names(pattern: str) -> str:
    """Strip the anchors and one outer group from a regular expression, and replace `.*` by `*`."""
    text = pattern.removeprefix("^").removesuffix("$")
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].removeprefix("?:")
    return text.replace(".*", "*")
