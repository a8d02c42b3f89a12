"""Graders by name, for assertions of the type `custom`.

A program registers a function with `@grader("name")`, and a package with an entry point of the group `prowess.graders`,
whose name is the grader's. An entry point is imported when its name is asked for, and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from prowess._internal.text.near_words import near_words
from prowess.errors import SkillError

if TYPE_CHECKING:
    from prowess.evals.scenarios.report import Grade, GradedRun

Grader = Callable[["GradedRun"], "Grade | bool"]
GROUP = "prowess.graders"
_F = TypeVar("_F", bound=Grader)
_registered: dict[str, Grader] = {}


class GraderNotFoundError(SkillError, LookupError):
    """No grader has this name. `suggestions` are similar names."""

    code = "tool_not_found"
    name: str
    suggestions: tuple[str, ...] = ()
    sentence = "no grader is called {name!r}; use prowess.evals.grader or an entry point of the group prowess.graders"


def grader(name: str) -> Callable[[_F], _F]:
    """Register a function as the grader `name`. It takes a `GradedRun`, and returns a `Grade` or true or false.

        @grader("names-a-sum")
        def names_a_sum(run: GradedRun) -> bool:
            return "12.50" in run.answer

    Raises:
        ValueError: another function has this name.
    """

    def register(function: _F) -> _F:
        if _registered.setdefault(name, function) is not function:
            message = f"there is a grader {name!r} already"
            raise ValueError(message)
        return function

    return register


def grader_named(name: str) -> Grader:
    """Return a grader.

    Raises:
        GraderNotFoundError: there is none.
        Exception: whatever the import of a package's grader raises.
    """
    if name in _registered:
        return _registered[name]
    for point in entry_points(group=GROUP, name=name):
        found: Grader = point.load()
        return found
    known = [*_registered, *(point.name for point in entry_points(group=GROUP))]
    raise GraderNotFoundError(name, tuple(near_words(name, known)))
