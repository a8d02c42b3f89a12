"""Language models that decide in ways a test can foresee."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.agent.local import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.agent import ModelSettings


class Deciding:
    """An engine that takes the label which `decide` returns the place of; `questions` keeps what was asked."""

    def __init__(self, decide: Callable[[Sequence[str]], int] = lambda _: 0) -> None:
        self._decide = decide
        self.questions: list[tuple[str, list[str]]] = []
        self.prompts: list[str] = []
        self.settings: list[ModelSettings | None] = []

    def choose(self, question: str, labels: Sequence[str], settings: ModelSettings | None = None) -> Reply:
        self.settings.append(settings)
        self.questions.append((question, list(labels)))
        return Reply(text=labels[self._decide(labels) % len(labels)], input_tokens=10, output_tokens=2)

    def write(self, prompt: str, most_tokens: int, settings: ModelSettings | None = None) -> Reply:
        self.settings.append(settings)
        self.prompts.append(prompt)
        return Reply(text="I think so.", input_tokens=20, output_tokens=min(4, most_tokens))


def taking(*wanted: str) -> Callable[[Sequence[str]], int]:
    """Take the label that begins with the first of these that any begins with, else the first of all."""

    def decide(labels: Sequence[str]) -> int:
        fit = (place for word in wanted for place, label in enumerate(labels) if label.startswith(word))
        return next(fit, 0)

    return decide
