"""The resolver finds an answer if and only if there is one, prefers what is new and keeps what is locked."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from prowess.distribution.resolution.resolver import resolve
from prowess.distribution.resolution.supply import Candidate, Locked
from prowess.errors import ResolutionError
from prowess.lockfile.requirement import Requirement
from tests.distribution.resolution.worlds import World, large_world, random_world

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORLDS = int(os.environ.get("PROWESS_TEST_WORLDS", "400"))


def _skills(**skills: dict[str | None, str]) -> World:
    """A world with one source. What a version needs is a text of requirements, separated by commas."""
    return World({("own", name): {one: _read(text) for one, text in known.items()} for name, known in skills.items()})


def _read(text: str) -> list[Requirement]:
    return [Requirement.parse(one) for one in text.split(",") if one]


def _asked(*texts: str, source: str = "own") -> list[Requirement]:
    return [Requirement.parse(f"{text} from {source}") for text in texts]


def _resolved(world: World, asked: Sequence[Requirement], locked: Sequence[Locked] = ()) -> list[str]:
    return [str(one) for one in resolve(asked, world, locked)]


def _lock(name: str, version: str | None, mode: str = "held", *needs: str, source: str = "own") -> Locked:
    candidate = Candidate(name=name, version=version, source=source, locked=True)
    return Locked(candidate=candidate, requires=tuple(map(Requirement.parse, needs)), mode=mode)  # type: ignore[arg-type]  # a text in tests


@pytest.mark.unmeasured
def test_there_is_an_answer_if_and_only_if_a_search_through_all_choices_finds_one() -> None:
    answered = refused = 0
    for seed in range(_WORLDS):
        world, asked = random_world(random.Random(seed))
        expected = world.has_answer(asked)
        try:
            found = resolve(asked, world)
        except ResolutionError:
            assert not expected, f"seed {seed}: there is an answer, and none was found"
            refused += 1
        else:
            choice = {one.name: (one.source, one.version) for one in found}
            assert len(choice) == len(found), f"seed {seed}: a name was chosen twice"
            assert expected
            assert world.is_answer(asked, choice), f"seed {seed}: {choice} is no answer"
            answered += 1
    assert min(answered, refused) * 10 > _WORLDS, "the worlds are too easy"


def test_a_thousand_skills_are_resolved_and_each_version_is_read_at_most_once() -> None:
    world, asked = large_world(random.Random(1), skills=1000, versions=5)
    found = resolve(asked, world)
    assert len(found) == 1000
    assert world.is_answer(asked, {one.name: (one.source, one.version) for one in found})
    assert len(world.read) == len(set(world.read))


def test_the_newest_version_that_fits_is_chosen_and_nothing_that_is_not_needed() -> None:
    world = _skills(
        report={"3.1.0": "ledger@^2", "3.0.0": "ledger@^1"},
        ledger={"1.0.0": "", "2.0.0": "", "2.4.0": "", "3.0.0": ""},
        other={"1.0.0": ""},
    )
    assert _resolved(world, _asked("report")) == ["ledger 2.4.0", "report 3.1.0"]


def test_an_older_version_is_chosen_if_the_newest_one_does_not_fit_the_rest() -> None:
    world = _skills(
        report={"3.1.0": "ledger@^2", "3.0.0": "ledger@^1"},
        mail={"1.0.0": "ledger@^1"},
        ledger={"1.0.0": "", "2.4.0": ""},
    )
    assert _resolved(world, _asked("report", "mail")) == ["ledger 1.0.0", "mail 1.0.0", "report 3.0.0"]


def test_skills_that_need_each_other_are_resolved() -> None:
    world = _skills(a={"1.0.0": "b"}, b={"1.0.0": "c@^1"}, c={"1.0.0": "a@^1", "2.0.0": ""})
    assert _resolved(world, _asked("a")) == ["a 1.0.0", "b 1.0.0", "c 1.0.0"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("ledger", "ledger 1.0.0"),
        ("ledger@^2.0.0-rc.1", "ledger 2.0.0-rc.2"),
        ("ledger@>=1", "ledger 1.0.0"),
        ("ledger@2.0.0-rc.1", "ledger 2.0.0-rc.1"),
        ("ledger@spring", "ledger spring"),
    ],
)
def test_prereleases_and_other_texts_are_chosen_only_if_they_are_meant(wanted: str, expected: str) -> None:
    world = _skills(ledger={"1.0.0": "", "2.0.0-rc.1": "", "2.0.0-rc.2": "", "spring": "", None: ""})
    assert _resolved(world, _asked(wanted)) == [expected]


def test_a_prerelease_is_chosen_if_there_is_no_release() -> None:
    assert _resolved(_skills(ledger={"1.0.0-rc.1": "", "spring": ""}), _asked("ledger")) == ["ledger 1.0.0-rc.1"]


def test_a_held_version_stays_and_a_preferred_one_stays_if_it_can() -> None:
    world = _skills(report={"1.0.0": "ledger", "2.0.0": "ledger@^2"}, ledger={"1.0.0": "", "2.0.0": ""})
    assert _resolved(world, _asked("report"), [_lock("ledger", "1.0.0")]) == ["ledger 1.0.0", "report 1.0.0"]
    assert _resolved(world, _asked("report@^1"), [_lock("ledger", "1.0.0", "preferred")]) == [
        "ledger 1.0.0",
        "report 1.0.0",
    ]
    assert _resolved(world, _asked("report"), [_lock("ledger", "1.0.0", "preferred")]) == [
        "ledger 2.0.0",
        "report 2.0.0",
    ]


def test_a_held_skill_is_kept_with_its_own_demands_and_its_source_is_not_read() -> None:
    world = _skills(mail={"1.0.0": ""})
    assert _resolved(world, _asked("report"), [_lock("report", "9.0.0", "held", "mail@^1")]) == [
        "mail 1.0.0",
        "report 9.0.0",
    ]


def test_a_dependency_comes_from_its_dependants_source_then_from_the_first_registry_that_has_it() -> None:
    world = World(
        {
            ("own", "report"): {"1.0.0": [Requirement(name="ledger"), Requirement(name="mail")]},
            ("own", "ledger"): {"1.0.0": []},
            ("first", "ledger"): {"9.0.0": []},
            ("first", "mail"): {"1.0.0": []},
            ("second", "mail"): {"9.0.0": []},
        }
    )
    found = {(one.name, one.source, one.version) for one in resolve(_asked("report"), world)}
    assert found == {("report", "own", "1.0.0"), ("ledger", "own", "1.0.0"), ("mail", "first", "1.0.0")}


def test_a_later_registry_is_not_asked_if_the_first_one_has_no_version_that_fits() -> None:
    world = World(
        {
            ("own", "report"): {"1.0.0": [Requirement(name="mail", range="^9")]},
            ("first", "mail"): {"1.0.0": []},
            ("second", "mail"): {"9.0.0": []},
        }
    )
    with pytest.raises(ResolutionError, match=r"mail: first has 1\.0\.0") as caught:
        resolve(_asked("report"), world)
    assert "second" not in str(caught.value)


def test_a_name_that_the_scope_asks_for_serves_the_skills_that_declare_no_source() -> None:
    world = World(
        {
            ("own", "report"): {"1.0.0": [Requirement(name="ledger")]},
            ("own", "ledger"): {"1.0.0": []},
            ("fork", "ledger"): {"1.0.1": []},
        }
    )
    found = resolve([*_asked("report"), *_asked("ledger", source="fork")], world)
    assert [(one.name, one.source) for one in found] == [("ledger", "fork"), ("report", "own")]


def test_one_name_from_two_sources_is_kept_twice_if_both_are_asked_for() -> None:
    world = World({("a", "deploy"): {"1.0.0": []}, ("b", "deploy"): {"2.0.0": []}})
    found = resolve([*_asked("deploy", source="a"), *_asked("deploy", source="b")], world)
    assert [(one.source, one.version) for one in found] == [("a", "1.0.0"), ("b", "2.0.0")]


def test_a_conflict_names_each_demand_who_makes_it_and_the_versions_there_are() -> None:
    world = _skills(
        report={"3.1.0": "ledger@^2", "3.0.0": "ledger@^2"},
        mail={"1.0.0": "ledger@^1"},
        ledger={"1.0.0": "", "1.4.2": "", "2.0.0": ""},
        unrelated={"1.0.0": ""},
    )
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("unrelated", "report@^3", "mail"), world)
    assert str(caught.value).split("\n") == [
        "no choice of versions meets all demands; nothing was changed",
        "  ledger: own has 2.0.0, 1.4.2, 1.0.0",
        "    report 3.1.0 and 3.0.0 need ledger@^2",
        "    mail 1.0.0 needs ledger@^1",
        "  report: own has 3.1.0, 3.0.0",
        "    this scope asks for report@^3",
        "  mail: own has 1.0.0",
        "    this scope asks for mail",
        "to go on: ask for another version of report; or leave out mail or report",
    ]


def test_a_conflict_with_the_lock_names_the_command_that_lets_the_skill_move() -> None:
    world = _skills(report={"1.0.0": "ledger@^2"}, ledger={"1.0.0": "", "2.0.0": ""})
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("report"), world, [_lock("ledger", "1.0.0")])
    assert "the lock has ledger 1.0.0, and this command keeps it" in str(caught.value)
    assert "prowess update ledger" in str(caught.value)


def test_a_conflict_whose_newest_version_does_not_fit_either_advises_no_update() -> None:
    world = _skills(mail={"1.0.0": "ledger@^1"}, ledger={"1.0.0": "", "2.0.0": ""})
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("mail"), world, [_lock("ledger", "2.0.0")])
    assert str(caught.value).endswith(
        "to go on: name ledger in the same command, so that it can change too; or leave out mail"
    )


@pytest.mark.parametrize(
    ("wanted", "known", "line"),
    [
        ("^1", {"1.0.0-rc.1": ""}, "    ^1 allows no prerelease such as 1.0.0-rc.1; ^1.0.0-rc.1 does"),
        ("^1", {"spring": ""}, "    spring is no semantic version, so no range allows it; only spring does"),
        (
            "^1",
            {None: ""},
            "    the skill states no version, so no range allows it; only a demand without version does",
        ),
        (">>1", {"1.0.0": ""}, "    >>1 is not a range"),
        ("^2", {"1.0.0": ""}, "  report: own has 1.0.0"),
        ("^1", {}, "  ledger: own has only yanked versions: 1.5.0"),
        ("^2", {"1.0.0": ""}, "  ledger: own has 1.0.0; yanked: 1.5.0"),
    ],
)
def test_a_conflict_tells_why_a_version_does_not_fit(wanted: str, known: dict[str | None, str], line: str) -> None:
    world = _skills(report={"1.0.0": f"ledger@{wanted}"}, ledger=known)
    world.withdrawn["own", "ledger"] = ("1.5.0",)
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("report"), world)
    assert line in str(caught.value).split("\n")


def test_only_a_skill_that_was_asked_for_can_be_left_out() -> None:
    world = _skills(a={"1.0.0": "b"}, b={"1.0.0": "c"}, c={"1.0.0": "ledger@^2"}, ledger={"1.0.0": ""})
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("a"), world)
    assert str(caught.value).endswith("to go on: leave out a")
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("ledger@^2"), world)
    assert str(caught.value).endswith("to go on: ask for another version of ledger")


def test_a_missing_skill_is_named_with_who_needs_it() -> None:
    with pytest.raises(ResolutionError) as caught:
        resolve(_asked("report"), _skills(report={"1.0.0": "ledger@^2"}))
    assert "ledger: no source has a skill of this name" in str(caught.value)
    assert "report 1.0.0 needs ledger@^2" in str(caught.value)
