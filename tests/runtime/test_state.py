from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import LimitExceededError, StoreError
from prowess.runtime.state import ActiveSkill, SessionState, from_json, loaded, pruned, require_room, to_json, unloaded


def skill(name: str, *, version: str = "1", place: str = "a") -> ActiveSkill:
    return ActiveSkill(
        name=name,
        key=name,
        location=f"/{place}/{name}/SKILL.md",
        root_dir=f"/{place}/{name}",
        digest=f"sha256:{version}",
        content_digest=f"sha256:{version}",
        document_digest=f"sha256:{version}",
        properties={"name": name, "description": "d", "allowed-tools": "Read"},
    )


def state(*names: str) -> SessionState:
    return SessionState(active=tuple(skill(name) for name in names))


@pytest.mark.proves("runtime.load.replace", "runtime.session.active-order")
def test_replace_leaves_exactly_the_named_skills_in_their_order() -> None:
    step = loaded(state("a", "b"), [skill("c"), skill("b")], "replace", 8)

    assert step.state.names == ("c", "b")
    assert step.unloaded == ("a",)
    assert step.state.latest is not None
    assert step.state.latest.name == "b"


@pytest.mark.proves("runtime.load.add", "runtime.load.add.order")
def test_add_keeps_the_places_of_active_skills_and_puts_new_ones_behind() -> None:
    step = loaded(state("a", "b"), [skill("c"), skill("a")], "add", 8)

    assert step.state.names == ("a", "b", "c")
    assert step.unloaded == ()
    assert step.repeated == ("a",)


def test_a_changed_skill_keeps_its_place_and_takes_over_the_new_facts() -> None:
    step = loaded(state("a", "b"), [skill("a", version="2")], "add", 8)

    assert step.state.names == ("a", "b")
    assert step.state.active[0].digest == "sha256:2"
    assert (step.repeated, step.changed) == ((), ("a",))


def test_another_copy_of_a_name_counts_as_changed() -> None:
    step = loaded(state("a"), [skill("a", place="other")], "replace", 8)

    assert step.changed == ("a",)
    assert step.unloaded == ()


@pytest.mark.parametrize(("mode", "asked"), [("add", ["c"]), ("replace", ["c", "d", "e"])])
def test_the_cap_is_stated_and_says_to_load_fewer(mode: str, asked: list[str]) -> None:
    before = state("a", "b")
    with pytest.raises(LimitExceededError, match="load fewer skills: at most 2") as caught:
        loaded(before, [skill(name) for name in asked], mode, 2)  # type: ignore[arg-type]  # parametrised

    assert (caught.value.limit, caught.value.actual) == (2, 3)
    assert before.names == ("a", "b")


def test_repeating_active_skills_does_not_count_against_the_cap() -> None:
    require_room(["a", "b"], ["a", "b"], "add", 2)
    assert loaded(state("a", "b"), [skill("b")], "add", 2).state.names == ("a", "b")


@pytest.mark.proves("runtime.unload.names")
def test_unload_removes_the_named_skills_and_keeps_the_order_of_the_rest() -> None:
    step = unloaded(state("a", "b", "c", "d"), {"c", "a", "z"})

    assert step.state.names == ("b", "d")
    assert step.unloaded == ("a", "c")


def test_pruning_names_what_left() -> None:
    step = pruned(state("a", "b"), lambda active: active.name != "a")

    assert (step.state.names, step.unloaded) == (("b",), ("a",))


def test_a_state_survives_the_way_through_a_store() -> None:
    before = SessionState(active=(skill("a"), skill("ü\udcff", version="2")))

    text = to_json(before)

    assert text.isascii()
    assert from_json(text) == before


_NUMBERS = [f'{{"schema":3,"active":[],"stack":[],"finished":[{number}]}}' for number in ("NaN", "-Infinity", "1e999")]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema":1}', '{"schema":1,"active":[{"name":"a"}]}', "[" * 20_000, *_NUMBERS]
)
def test_a_damaged_state_is_a_store_error(text: str) -> None:
    with pytest.raises(StoreError, match="damaged"):
        from_json(text)


def test_a_state_of_a_newer_version_is_not_guessed_at() -> None:
    with pytest.raises(StoreError, match="schema 4"):
        from_json(json.dumps({"schema": 4, "active": []}))


def test_a_state_of_the_first_version_has_no_arguments_and_no_stack() -> None:
    before = SessionState(active=(skill("a"),))
    first = json.loads(to_json(before))
    first |= {"schema": 1}
    del first["stack"], first["finished"], first["active"][0]["args"], first["active"][0]["outputs"]
    assert from_json(json.dumps(first)) == before


def test_facts_of_an_active_skill_need_no_disk() -> None:
    assert skill("a").allowed_tools == "Read"


_NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8)


@given(st.lists(st.tuples(st.sampled_from(["replace", "add", "unload"]), _NAMES), max_size=30), st.integers(1, 4))
def test_no_sequence_of_loads_and_unloads_breaks_the_invariants(steps: list[tuple[str, list[str]]], cap: int) -> None:
    current = SessionState()
    for kind, names in steps:
        before = current
        try:
            if kind == "unload":
                step = unloaded(current, set(names))
            else:
                step = loaded(current, [skill(name) for name in names], kind, cap)  # type: ignore[arg-type]  # sampled
        except LimitExceededError:
            assert current == before
            continue
        current = step.state
        assert len(current.active) <= cap
        assert len(set(current.names)) == len(current.names)
        assert set(before.names) - set(current.names) == set(step.unloaded)
        if kind == "replace":
            assert current.names == tuple(dict.fromkeys(names))
