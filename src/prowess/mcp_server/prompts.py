"""Skills that a person calls up by name, as MCP prompts.

A prompt starts its skill the way a user starts it (`Session.invoke`): through the executor for users, with the
arguments in their places, and for skills that models may not choose as well. What comes back is the message.
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

ALL = "arguments"  # the one argument of a skill that declares none
_MAX_BYTES = 64 * 1024


class SkillPrompt(Struct, frozen=True, kw_only=True):
    """A skill as a command; `hint` says in the skill's words what to give, None where it says nothing."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    hint: str | None


class SkillPrompts:
    """The prompts of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def listed(self) -> list[SkillPrompt]:
        """Return the skills that people may start, sorted by name."""
        open_to_people = set(self._session.completions())
        return [
            _prompt(entry)
            for entry in self._session.catalog.entries()
            if entry.name in open_to_people and not name_faults(entry.name)
        ]

    async def get(self, name: str, arguments: Mapping[str, str]) -> tuple[SkillPrompt, str]:
        """Start the skill; return its prompt and the text of the message.

        Raises:
            SkillNotFoundError: no such skill.
            InvalidArgumentsError: an argument that it does not declare, one that is missing, or too much text; or
                people may not start it.
            SkillError: what starting a skill raises.
        """
        prompt = _prompt(self._session.catalog.get(name))
        _check(prompt, arguments)
        result = (await self._session.user_call(prompt.name, _as_text(prompt, arguments))).unwrap()
        return prompt, cast("str", result.get("content") or result.get("output") or result.get("message"))


def _prompt(entry: SkillEntry) -> SkillPrompt:
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
        problems.append(f"the arguments have more than {_MAX_BYTES} bytes together; put the text into a file")
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def _as_text(prompt: SkillPrompt, arguments: Mapping[str, str]) -> str | None:
    """Return one text in which each declared argument is a word, as a user would have typed it; None without any."""
    if not arguments:
        return None
    if prompt.arguments[0].name == ALL:
        return arguments[ALL]
    last = prompt.arguments.index([argument for argument in prompt.arguments if argument.name in arguments][-1])
    return " ".join(
        _word(arguments.get(argument.name, argument.default or "")) for argument in prompt.arguments[: last + 1]
    )


def _word(value: str) -> str:
    """Return a text that `substitution.words` reads as this one word."""
    if value and value[0] not in "'\"" and not any(sign.isspace() for sign in value):
        return value
    if '"' not in value:
        return f'"{value}"'
    # Single quotes would do for most of these, but not for `a' b`: each `"` becomes a part in single quotes.
    return "'\"'".join(f'"{part}"' for part in value.split('"'))
