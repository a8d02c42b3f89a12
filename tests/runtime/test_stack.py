from __future__ import annotations

import pickle

import pytest

from prowess.errors import LimitExceededError
from prowess.runtime.activation.stack import ActivationCycleError, Stack, entered, kept


def test_an_activation_goes_on_top() -> None:
    assert entered((), "a") == ("a",)
    assert entered(("a", "b"), "c") == ("a", "b", "c")


@pytest.mark.proves("runtime.activate.cycle")
def test_a_cycle_is_shown_from_the_skill_to_itself() -> None:
    with pytest.raises(ActivationCycleError, match="b → c → b") as caught:
        entered(("a", "b", "c"), "b")
    assert caught.value.code == "activation_cycle"
    assert caught.value.cycle == ("b", "c", "b")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 -- our own bytes


@pytest.mark.proves("runtime.activate.depth")
def test_a_sixth_level_is_refused_with_the_limit() -> None:
    stack: Stack = ()
    for key in "abcde":
        stack = entered(stack, key)
    with pytest.raises(LimitExceededError, match=r"6 is over the limit of 5.*a → b → c → d → e → f"):
        entered(stack, "f")
    with pytest.raises(LimitExceededError, match="limit of 1"):
        entered(("a",), "b", limit=1)


def test_what_has_ended_leaves_the_stack() -> None:
    assert kept(("a", "b", "c"), {"a", "c"}) == ("a", "c")
