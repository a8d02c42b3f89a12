from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.format import Role, balancer, is_balanced, role_of

VECTORS = {
    Role.COORDINATOR: ("pdf", "code-review", "xlsx", "skill-creator", "lean4", "dafny"),
    Role.GENERATOR: ("hello", "a", "b", "test-skill"),
    Role.VERIFIER: ("pdf-processing", "data-analysis", "skill", "gay-mcp", "acsets", "c"),
}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in VECTORS.items() for name in names])
@pytest.mark.proves("tooling.boxxy.trit")
def test_the_role_of_a_known_name(role: Role, name: str) -> None:
    assert role_of(name) is role


@pytest.mark.proves("tooling.boxxy.trit-writing", "tooling.boxxy.roles", "tooling.boxxy.colors")
def test_each_role_has_its_trit_its_writing_and_its_colour() -> None:
    assert [(role.trit, role.balanced, role.title, role.color) for role in Role] == [
        (0, "0", "Coordinator", "#F59E0B"),
        (1, "+1", "Generator", "#A855F7"),
        (2, "-1", "Verifier", "#2E5FA3"),
    ]


def test_spellings_that_normalise_alike_have_one_role() -> None:
    assert {role_of(name) for name in ("cafe\u0301", "caf\u00e9", "  caf\u00e9 ")} == {role_of("caf\u00e9")}
    assert role_of("\u210c\u2460") is role_of("H1")


@pytest.mark.parametrize("name", ["", "\ud800", "\0", "x" * 1_000_000, "e" + "\u0301" * 100_000])
def test_no_name_is_without_a_role(name: str) -> None:
    assert role_of(name) in Role


@pytest.mark.proves("tooling.boxxy.conservation")
def test_a_set_is_balanced_exactly_when_its_trits_add_up_to_a_multiple_of_three() -> None:
    triples = list(product(Role, repeat=3))
    balanced = [roles for roles in triples if is_balanced(roles)]
    assert len(balanced) == 9
    assert all(sum(role.trit for role in roles) in (0, 3, 6) for roles in balanced)
    assert is_balanced([])
    assert not is_balanced([Role.GENERATOR])
    assert is_balanced([Role.GENERATOR, Role.VERIFIER])


@given(st.lists(st.sampled_from(Role)))
def test_the_balancer_balances_any_set(roles: list[Role]) -> None:
    assert is_balanced([*roles, balancer(roles)])
    assert (balancer(roles) is Role.COORDINATOR) == is_balanced(roles)


def test_names_fall_evenly_on_the_three_roles() -> None:
    counts = Counter(role_of(f"skill-{number}") for number in range(3000))
    assert all(900 < counts[role] < 1100 for role in Role)
