"""`local:smollm2-135m`: the turn of a model whose language model only ever picks one of a few options.

A turn asks at most three questions: which skill, which call, which part of what was found is the answer. Each choice is
constrained to its options by a grammar, so that no answer is unreadable; and the answer quotes what a tool said,
because a model of this size invents figures. Only where nothing was found out does it write by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread

from prowess.agent.local.options import Option, actions, blocks, distinct, situation, skill_options
from prowess.agent.model import Part, TextDelta, ToolUse, Usage
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from typing import Self

    from prowess.agent.local.engine import Engine, Reply
    from prowess.agent.local.options import Situation
    from prowess.agent.model import ModelRequest

PREFIX = "local:"
NAMES = ("smollm2-135m",)
WEAKNESS = (
    "local:smollm2-135m is a very small model: it picks one of a few things that words of the task point to, and "
    "often the wrong one; docs/offline-model.md has counts"
)
_NONE = Option(label="none")
_ANSWER = Option(label="answer")
_MOST_WRITTEN = 96  # tokens of a text of its own
_TASK, _SAID, _DESCRIBED = 600, 1200, 160  # bytes of a question: the task, what was said, one description


class LocalModel:
    """A `Model` over an `Engine`. It is weak (`WEAKNESS`), costs nothing, and ends every run after a few calls."""

    def __init__(self, engine: Engine, *, name: str = f"{PREFIX}{NAMES[0]}") -> None:
        self._engine, self._name = engine, name

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the model `local:smollm2-135m`.

        Raises:
            InvalidArgumentsError: there is no local model of this name, or the extra is not installed.
        """
        if name.removeprefix(PREFIX) not in NAMES:
            known = ", ".join(f"{PREFIX}{known}" for known in NAMES)
            raise InvalidArgumentsError((f"there is no local model {name!r}; there is {known}",))
        # Imported here, not at the top: only this name needs what it looks for.
        from prowess.agent.local.engine import SmolLM2

        return cls(SmolLM2(), name=name)

    @property
    def name(self) -> str:
        """The name it was made with."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Give one call, or the answer. Cancelling leaves the language model to end its bounded reply by itself."""
        now = situation(request)
        turn = _Turn(self._engine)
        option = await to_thread.run_sync(turn.take, now, abandon_on_cancel=True)
        if option.tool is None:
            yield TextDelta(text=option.text)
        else:
            name = now.tools[option.tool].wire_name
            yield ToolUse(id=f"local-{len(now.done) + 1}", name=name, arguments=dict(option.arguments or {}))
        yield Usage(input_tokens=turn.input_tokens, output_tokens=turn.output_tokens, cost_usd=0.0)


class _Turn:
    """One turn, and what its questions took."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.input_tokens = self.output_tokens = 0

    def take(self, now: Situation) -> Option:
        """Return the next call, or an option without a tool whose text is the answer."""
        task = f"Task: {shortened(now.task, _TASK)}"
        if skills := skill_options(now):
            listed = "\n".join(f"- {skill.label}: {shortened(skill.text, _DESCRIBED)}" for skill in skills)
            question = f"Skills:\n{listed}\n- none: no skill fits\n\n{task}\nWhich skill fits the task?"
            if (skill := self._choose(question, [*skills, _NONE])).tool is not None:
                return skill
        if possible := actions(now):
            # The first option is picked too often, so what is likeliest stands there. A script of the skill runs first.
            enough = any(done.worked and done.output for done in now.done)
            to_run = possible[0].tool == "skills.run_script"
            offered = possible if to_run else [_ANSWER, *possible] if enough else [*possible, _ANSWER]
            if (chosen := self._choose(f"{task}\nWhat is done next?", offered)).tool is not None:
                return chosen
        return Option(label="", text=self._answer(now, task))

    def _answer(self, now: Situation, task: str) -> str:
        if found := blocks(now):
            return self._choose(f"{task}\nWhich of these answers it?", found).text
        if now.done and not now.done[-1].worked:
            return f"I could not do it. {now.done[-1].tool} said: {now.done[-1].output}"
        said = "" if now.body is None else f"Instructions:\n{shortened(now.body, _SAID)}\n\n"
        return self._counted(self._engine.write(f"{said}{task}\nAnswer in one or two sentences.", _MOST_WRITTEN))

    def _choose(self, question: str, options: Sequence[Option]) -> Option:
        offered = distinct(options)
        if len(offered) == 1:
            return offered[0]
        said = self._counted(self._engine.choose(question, [option.label for option in offered]))
        return next((option for option in offered if option.label == said), offered[0])

    def _counted(self, reply: Reply) -> str:
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        return reply.text


def shortened(text: str, most_bytes: int) -> str:
    """Return the beginning of a text on one line; a token is at least one byte, so this bounds tokens too."""
    line = " ".join(text.split())
    return line.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
