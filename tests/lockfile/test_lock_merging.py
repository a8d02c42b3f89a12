"""Merging of locks: every order of merges gives the same bytes."""

from __future__ import annotations

import os
import random

from prowess.lockfile import LockedTarget, Lockfile, merge_locks, parse_lock, render_lock, unmet
from tests.lockfile.locks import random_lock, skill

_TRIPLES = int(os.environ.get("PROWESS_LOCK_TRIPLES", "300"))


def _lock(*skills: object) -> Lockfile:
    return Lockfile(skills=skills)  # type: ignore[arg-type]  # the skills of `skill`


def test_random_merges_commute_associate_and_repeat() -> None:
    chance = random.Random(1)  # `PROWESS_LOCK_TRIPLES=10000` runs the whole set
    for _ in range(_TRIPLES):
        base = random_lock(chance)
        a, b, c = (random_lock(chance, near=base) for _ in range(3))
        both = merge_locks(base, a, b)
        text = render_lock(both)
        assert text == render_lock(merge_locks(base, b, a))
        assert text == render_lock(merge_locks(base, both, a)) == render_lock(merge_locks(base, both, both))
        assert parse_lock(text) == both
        all_three = render_lock(merge_locks(base, both, c))
        assert all_three == render_lock(merge_locks(base, a, merge_locks(base, b, c)))
        assert all_three == render_lock(merge_locks(base, c, a, b))
        assert merge_locks(base, a) == merge_locks(base, a, base) == merge_locks(base, a, a) == a


def test_a_changed_block_wins_over_an_unchanged_one() -> None:
    old, lower = _lock(skill("a", "2.0.0")), _lock(skill("a", "1.0.0"))
    assert merge_locks(old, old, lower) == lower
    assert merge_locks(old, old, Lockfile()) == Lockfile()


def test_a_block_that_one_side_changed_and_the_other_removed_stays() -> None:
    old, new = _lock(skill("a")), _lock(skill("a", "1.1.0"))
    assert merge_locks(old, Lockfile(), new) == new


def test_of_two_changes_the_higher_version_wins() -> None:
    base, low, high = _lock(skill("a", "1.0.0")), _lock(skill("a", "1.9.0")), _lock(skill("a", "1.10.0"))
    assert merge_locks(base, low, high) == high
    pre, final = _lock(skill("a", "2.0.0-rc.2")), _lock(skill("a", "2.0.0"))
    assert merge_locks(base, pre, final, high) == final
    calendar = _lock(skill("a", "2026.10"))  # no semantic version, so it is lower than any
    assert merge_locks(base, calendar, low) == low


def test_packages_with_skills_of_one_name_are_merged_apart() -> None:
    one, other = skill("a", package="x"), skill("a", package="y")
    assert merge_locks(Lockfile(), _lock(one), _lock(other)) == _lock(one, other)


def test_targets_are_merged_as_skills_are() -> None:
    copy, link = LockedTarget(agent="codex"), LockedTarget(agent="codex", mode="link")
    more = LockedTarget(agent="claude-code")
    base = Lockfile(targets=(copy,))
    assert merge_locks(base, Lockfile(targets=(link,)), Lockfile(targets=(copy, more))).targets == (more, link)


def test_a_merge_may_have_demands_that_do_not_fit_and_they_are_found() -> None:
    base = _lock(skill("ledger", "1.0.0"), skill("app", "1.0.0", requires=("ledger@^1",)))
    newer = _lock(skill("ledger", "2.0.0"))
    user = _lock(skill("ledger", "1.0.0"), skill("app", "1.1.0", requires=("ledger@^1", "mail")))
    merged = merge_locks(base, newer, user)
    assert [str(fault) for fault in unmet(merged)] == [
        "skill 'app' requires ledger@^1, but the lock has 2.0.0",
        "skill 'app' requires mail, which is not in the lock",
    ]
    assert unmet(base) == ()
