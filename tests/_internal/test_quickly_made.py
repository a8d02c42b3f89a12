"""A value that is made quickly is the dataclass that it was, to everybody who makes, reads or copies it."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, InitVar, dataclass, field, fields, replace

import pytest

from prowess._internal.quickly_made import quickly_made


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """A value as everywhere else."""

    name: str
    size: int = 3
    note: str | None = field(default=None, compare=False, repr=False)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """The same, quickly made."""

    name: str
    size: int = 3
    note: str | None = field(default=None, compare=False, repr=False)


def test_it_is_made_as_before() -> None:
    assert inspect.signature(Quick) == inspect.signature(Slow)
    made = Quick(name="a", note="b")
    assert (made.name, made.size, made.note) == ("a", 3, "b")
    assert repr(made) == repr(Slow(name="a")).replace("Slow", "Quick")
    assert made == Quick(name="a", size=3)
    assert hash(made) == hash(Quick(name="a"))
    assert made != Quick(name="a", size=4)
    assert [each.name for each in fields(made)] == ["name", "size", "note"]


@pytest.mark.parametrize("given", [{}, {"name": "a", "other": 1}])
def test_what_does_not_fit_is_a_type_error_as_before(given: dict[str, object]) -> None:
    with pytest.raises(TypeError) as slow:
        Slow(**given)  # type: ignore[arg-type]
    with pytest.raises(TypeError) as quick:
        Quick(**given)  # type: ignore[arg-type]
    assert str(quick.value) == str(slow.value).replace("Slow", "Quick")
    with pytest.raises(TypeError):
        Quick("a")  # type: ignore[call-arg]


def test_it_stays_as_it_was_made_and_can_be_copied() -> None:
    made = Quick(name="a", note="b")
    with pytest.raises(FrozenInstanceError):
        made.name = "c"  # type: ignore[misc]
    assert replace(made, size=5) == Quick(name="a", size=5)
    for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 -- its own bytes
        assert (same, same.note) == (made, "b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Derived:
    name: str = field(default="a", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    name: str

    def __post_init__(self) -> None:
        raise ValueError(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    name: str
    other: InitVar[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inheriting(Slow):
    more: str


@dataclass(frozen=True, slots=True)
class _Positional:
    name: str


@dataclass(frozen=True, kw_only=True)
class _Slotless:
    name: str


@dataclass(slots=True, kw_only=True)
class _Changeable:
    name: str


@pytest.mark.parametrize(
    "cls", [_Listed, _Derived, _Checked, _Given, _Inheriting, _Positional, _Slotless, _Changeable, str]
)
def test_a_class_that_it_does_not_understand_is_refused_where_it_is_defined(cls: type) -> None:
    with pytest.raises(TypeError):
        quickly_made(cls)
