"""MCP prompts: skills that a user starts by name.

A prompt starts its skill with `Session.invoke`. So the call goes through the executor for users, arguments are
substituted, and the skill may be hidden from models. The result is the text of the prompt's message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess.errors import InvalidArgumentsError
from prowess.format.fields.extended_fields import Argument, extended_fields
from prowess.format.name import name_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.catalog import SkillEntry
    from prowess.runtime import Session
    from prowess.runtime.activation.visibility import Visibility

ALL = "arguments"  # name of the only argument if the skill declares none
_MAX_BYTES = 64 * 1024


class SkillPrompt(Struct, frozen=True, kw_only=True):
    """A skill as a prompt. `hint` is the skill's description of its arguments, None if it has none."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    hint: str | None


class SkillPrompts:
    """The prompts of one session: one for each skill that users may start."""

    def __init__(self, session: Session, visibility: Visibility) -> None:
        self._session, self._visibility = session, visibility
        self._listed: tuple[tuple[SkillEntry, ...], tuple[SkillEntry, ...]] = ((), ())

    def listed(self) -> tuple[SkillEntry, ...]:
        """Return the skills that users may start, sorted by name. `prompt_of` returns the prompt of each."""
        offers = self._visibility.offers("user")
        if offers is not self._listed[0]:
            self._listed = offers, tuple(entry for entry in offers if not name_faults(entry.name))
        return self._listed[1]

    async def get(self, name: str, arguments: Mapping[str, str]) -> tuple[SkillPrompt, str]:
        """Start the skill; return its prompt and the text of the message.

        Raises:
            SkillNotFoundError: the catalog has no such skill.
            InvalidArgumentsError: an argument is undeclared, missing or too long, or users may not start the skill.
            SkillError: the skill cannot be started.
        """
        prompt = prompt_of(self._session.catalog.get(name))
        _check(prompt, arguments)
        result = (await self._session.user_call(name, _as_text(prompt, arguments))).unwrap()
        return prompt, cast("str", result.get("content") or result.get("output") or result.get("message"))


def prompt_of(entry: SkillEntry) -> SkillPrompt:
    """Return the prompt of a skill."""
    fields = extended_fields(entry.properties)
    return SkillPrompt(
        name=entry.name,
        description=entry.description,
        arguments=fields.arguments or (Argument(name=ALL),),
        hint=fields.argument_hint,
    )


def _check(prompt: SkillPrompt, arguments: Mapping[str, str]) -> None:
    declared = [argument.name for argument in prompt.arguments]
    problems = [
        f"Unknown argument: {name[:80]}; {prompt.name} takes {', '.join(declared)}"
        for name in arguments
        if name not in declared
    ]
    problems += [
        f"Missing required argument: {argument.name}"
        for argument in prompt.arguments
        if argument.required and argument.name not in arguments
    ]
    if sum(len(value.encode("utf-8", "replace")) for value in arguments.values()) > _MAX_BYTES:
        problems.append(f"the arguments have more than {_MAX_BYTES} bytes in total; put the text into a file")
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def _as_text(prompt: SkillPrompt, arguments: Mapping[str, str]) -> str | None:
    """Return the arguments as a line of words in declared order, as a user would type it; None without arguments."""
    if not arguments:
        return None
    if prompt.arguments[0].name == ALL:
        return arguments[ALL]
    last = prompt.arguments.index([argument for argument in prompt.arguments if argument.name in arguments][-1])
    return " ".join(
        _word(arguments.get(argument.name, argument.default or "")) for argument in prompt.arguments[: last + 1]
    )


def _word(value: str) -> str:
    """Quote a text so that `substitution.words` reads it as one word."""
    if value and value[0] not in "'\"" and not any(sign.isspace() for sign in value):
        return value
    if '"' not in value:
        return f'"{value}"'
    # Quotes around the whole text fail for `a' "b"`. So each `"` becomes a part of its own in single quotes.
    return "'\"'".join(f'"{part}"' for part in value.split('"'))
