"""The state of a session, and its changes by load and unload: values and pure functions.

The state is an ordered tuple of active skills, the most recently loaded last. A transition takes a state and returns
the next state, or raises. A transition accesses neither disk nor store. So if another process has written first, the
session repeats the transition on the newer state. Order and cap: runtime protocol 002, load and unload.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from prowess.errors import LimitExceededError, SkillConflictError, StoreError
from prowess.format.name import SkillName
from prowess.runtime.activation.stack import kept as still_on_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from prowess.runtime.activation.stack import Stack

LoadMode = Literal["replace", "add"]

MAX_EARLIER = 32
SCHEMA = 3
# schema 1 has no arguments, stack and finished hooks, schema 2 no conflicts; missing fields are read as empty
_READABLE = (1, 2, 3)


class ActiveSkill(Struct, frozen=True, kw_only=True):
    """One loaded skill, with its contents at the time of the load. Reading its fields needs no disk access.

    `key` is the name used for comparison. `digest` covers the whole tree; it is None if the tree contains links or
    special files, and `obstacle` names the first such file. `content_digest` covers the regular files and is always
    set. `document_digest` covers SKILL.md only. `properties` is the front matter with the keys as written. `args` are
    the arguments of the activation, None if it had none. `outputs` are the outputs of the commands in the body, in
    order. `conflicts` are the keys of skills that cannot be active together with this skill.
    """

    name: str
    key: str
    location: str
    root_dir: str
    digest: str | None
    content_digest: str
    document_digest: str
    obstacle: str | None = None
    properties: Mapping[str, Any] = {}
    args: str | None = None
    outputs: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def allowed_tools(self) -> object:
        """`allowed-tools` as the author wrote it, a string or a list; None if the skill has none."""
        return self.properties.get("allowed-tools")

    def same_activation(self, other: ActiveSkill) -> bool:
        """Return whether `other` has equal bytes and, if this skill has arguments, equal arguments."""
        return self.same_bytes(other) and self.args in (None, other.args)

    def same_bytes(self, other: ActiveSkill) -> bool:
        """Return whether `other` is the same copy of the skill, with equal digests."""
        return self is other or (self.location, self.content_digest, self.digest) == (
            other.location,
            other.content_digest,
            other.digest,
        )


class SessionState(Struct, frozen=True, kw_only=True):
    """The active skills, oldest first. `stack` has keys of nested activations, `finished` one-time hooks that ran.

    `earlier` has the keys of at most `MAX_EARLIER` skills that were used before and are not active, oldest first.
    """

    active: tuple[ActiveSkill, ...] = ()
    stack: Stack = ()
    finished: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the active skills in order."""
        return tuple(skill.name for skill in self.active)

    @property
    def used(self) -> tuple[str, ...]:
        """The keys of skills that the session uses or has used, the most recent first."""
        return (*(skill.key for skill in reversed(self.active)), *reversed(self.earlier))

    @property
    def latest(self) -> ActiveSkill | None:
        """The most recently loaded skill, None if no skill is active."""
        return self.active[-1] if self.active else None

    def find(self, key: str) -> ActiveSkill | None:
        """Return the active skill with this comparison key, None if no active skill has it."""
        for skill in self.active:
            if skill.key == key:
                return skill
        return None

    def named(self, name: str) -> ActiveSkill | None:
        """Return the active skill of this name, compared after normalisation; None if no active skill has the name."""
        return self.find(SkillName.of(name).text)


class Transition(Struct, frozen=True, kw_only=True):
    """The next state, and the names of the skills that are no longer active in it.

    `repeated` names skills that were already active with equal bytes and arguments. `changed` names skills that were
    already active with different bytes.
    """

    state: SessionState
    unloaded: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def require_room(active: Collection[str], asked: Collection[str], mode: LoadMode, cap: int) -> None:
    """Refuse a load after which more than `cap` skills would be active. `active` and `asked` are comparison keys.

    Each collection has no key twice. Raise LimitExceededError with advice that states the cap.
    """
    total = len(asked) if mode == "replace" else len({*active, *asked})
    if total > cap:
        advice = f"load fewer skills: at most {cap} can be active at once"
        if mode == "add":
            advice += ", or unload some first"
        raise LimitExceededError("active skills", cap, total, advice)


def loaded(state: SessionState, skills: Sequence[ActiveSkill], mode: LoadMode, cap: int) -> Transition:
    """Activate all of `skills` in the given order, or raise and activate none.

    After `replace`, exactly these skills are active. `add` appends new skills to the active ones; a skill that is
    already active keeps its position and is updated. If a load has no arguments and the skill is unchanged, the skill
    keeps its earlier arguments.

    Raises:
        LimitExceededError: more than `cap` skills would be active.
        SkillConflictError: two skills that would be active conflict with each other.
    """
    before: dict[str, ActiveSkill] = {}
    for skill in state.active:
        before[skill.key] = skill
    asked: dict[str, ActiveSkill] = {}
    for skill in skills:
        asked[skill.key] = skill
    require_room(before, asked, mode, cap)
    if not before:  # no active skill could be continued, unloaded or repeated
        _require_peace(new := tuple(asked.values()))
        return Transition(state=_with(state, new))
    repeated, changed = [], []
    for key, skill in asked.items():
        if (known := before.get(key)) is None:
            continue
        asked[key] = continued = _continued(skill, known)
        if continued.same_activation(known):
            repeated.append(skill.name)
        elif not continued.same_bytes(known):
            changed.append(skill.name)
    if mode == "replace":
        after = [*asked.values()]
        left = [skill.name for key, skill in before.items() if key not in asked]
    else:
        after = [*{**before, **asked}.values()]  # active skills keep their position
        left = []
    _require_peace(after)
    return Transition(
        state=_with(state, tuple(after)), unloaded=tuple(left), repeated=tuple(repeated), changed=tuple(changed)
    )


def _require_peace(active: Sequence[ActiveSkill]) -> None:
    for skill in active:
        if skill.conflicts:
            break
    else:  # the usual case; the loop is faster than a generator expression
        return
    names = {skill.key: skill.name for skill in active}
    for skill in active:
        other = next((names[key] for key in skill.conflicts if key in names and key != skill.key), None)
        if other is not None:
            raise SkillConflictError(skill.name, other)


def unloaded(state: SessionState, keys: Collection[str]) -> Transition:
    """Remove the skills with these comparison keys. Keys of inactive skills are ignored."""
    return pruned(state, lambda skill: skill.key not in keys)


def pruned(state: SessionState, keep: Callable[[ActiveSkill], bool]) -> Transition:
    """Keep the skills for which `keep` returns true, in their order."""
    kept = tuple(skill for skill in state.active if keep(skill))
    gone = tuple(skill.name for skill in state.active if skill not in kept)
    return Transition(state=_with(state, kept), unloaded=gone)


def used(state: SessionState, key: str) -> Transition:
    """Note the use of a skill that does not become active, because it runs in a sub-agent."""
    earlier = (*(other for other in state.earlier if other != key), key)
    return Transition(state=replace(state, earlier=earlier[-MAX_EARLIER:]))


def _with(state: SessionState, active: tuple[ActiveSkill, ...]) -> SessionState:
    stack = still_on_stack(state.stack, {skill.key for skill in active}) if state.stack else state.stack
    if active == state.active and stack == state.stack:
        return state
    earlier = _earlier(state, active) if state.active or state.earlier else ()
    return SessionState(active=active, stack=stack, finished=state.finished, earlier=earlier)


def _earlier(state: SessionState, active: tuple[ActiveSkill, ...]) -> tuple[str, ...]:
    now = {skill.key for skill in active}
    left = {key: None for key in state.earlier if key not in now}
    for skill in state.active:
        if skill.key not in now:
            left.pop(skill.key, None)
            left[skill.key] = None
    return tuple(left)[-MAX_EARLIER:]


def _continued(skill: ActiveSkill, before: ActiveSkill) -> ActiveSkill:
    if skill is before or skill.args is not None or not skill.same_bytes(before):
        return skill
    if (before.args, before.outputs) == (skill.args, skill.outputs):
        return skill
    return replace(skill, args=before.args, outputs=before.outputs)


# ASCII, so that a path with bytes that are not UTF-8 survives every store.
_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def to_json(state: SessionState) -> str:
    """Return the state as JSON text for a store."""
    active = ",".join(map(_skill_json, state.active))
    stack = _ENCODE(state.stack) if state.stack else "[]"
    finished = _ENCODE(state.finished) if state.finished else "[]"
    earlier = f',"earlier":{_ENCODE(state.earlier)}' if state.earlier else ""
    return f'{{"schema":{SCHEMA},"active":[{active}],"stack":{stack},"finished":{finished}{earlier}}}'


def _skill_json(skill: ActiveSkill) -> str:
    return _ENCODE({**asdict(skill), "properties": dict(skill.properties)})


def _no_fraction(text: str) -> float:
    message = f"{text[:20]} is no text"
    raise ValueError(message)


# A stored state contains strings, null and the schema number only. Any other number means damage; it must not reach a
# load result, because JSON cannot represent NaN or infinity.
_DECODE = json.JSONDecoder(parse_float=_no_fraction, parse_constant=_no_fraction).decode


def from_json(text: str) -> SessionState:
    """Parse a state that `to_json` wrote. Raise StoreError if it is damaged or of a newer version."""
    try:
        value = _DECODE(text)
        schema = value["schema"]
        if schema in _READABLE:
            return SessionState(
                active=tuple(
                    ActiveSkill(**{**skill, **{key: tuple(skill.get(key, ())) for key in ("outputs", "conflicts")}})
                    for skill in value["active"]
                ),
                stack=tuple(value.get("stack", ())),
                finished=tuple(value.get("finished", ())),
                earlier=tuple(map(str, value.get("earlier", ()))),
            )
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise StoreError(None, f"the stored state is damaged ({type(fault).__name__})") from fault
    raise StoreError(None, f"the stored state has schema {schema!r}, this version reads 1 to {SCHEMA}; upgrade Prowess")
