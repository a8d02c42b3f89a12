"""Locks for tests: a full one, and random ones."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from prowess.lockfile import LockedSkill, LockedTarget, Lockfile

if TYPE_CHECKING:
    import random

NAMES = ("ledger", "mail", "pdf", "日本-skill")
VERSIONS = (None, "1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1", "2.0.0-rc.10", "2.0.0", "2026.10", "v1.2.0", "1.2.0+b1")


def digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def skill(name: str, version: str | None = "1.0.0", **rest: object) -> LockedSkill:
    values = {"source": "https://example.com/skills", "tree": digest(f"{name} {version}"), **rest}
    return LockedSkill(name=name, version=version, **values)  # type: ignore[arg-type]  # tests pass any keys


def full_lock() -> Lockfile:
    """A lock that has each key, and values that have to be escaped."""
    one = LockedSkill(
        name="ledger",
        package="acme/tools",
        version="1.2.0",
        source='../skills "of" \\ acme\u202e',
        path="skills/ledger",
        commit="a" * 40,
        artifact=digest("artifact"),
        tree=digest("tree"),
        requires=("pdf", "mail@^1 || ^2"),
        order=12,
        requested="^1",
        signer="acme",
        unsigned=True,
    )
    return Lockfile(skills=(skill("mail"), one), targets=(LockedTarget(agent="claude-code", mode="link"),))


def random_lock(chance: random.Random, near: Lockfile | None = None) -> Lockfile:
    """Return a random lock, or one that a few changes make of `near`."""
    skills = {one.key: one for one in near.skills} if near else {}
    targets = {one.key: one for one in near.targets} if near else {}
    for _ in range(chance.randrange(4 if near else 8)):
        name, package = chance.choice(NAMES), chance.choice(("", "acme"))
        if chance.random() < 0.3:
            skills.pop((name, package), None)
        else:
            version, order = chance.choice(VERSIONS), chance.randrange(3)
            skills[name, package] = skill(name, version, package=package, order=order, unsigned=chance.random() < 0.2)
        agent = chance.choice(("claude-code", "codex"))
        if chance.random() < 0.5:
            targets.pop(agent, None)
        else:
            targets[agent] = LockedTarget(agent=agent, mode=chance.choice(("copy", "link")))
    return Lockfile(skills=tuple(skills.values()), targets=tuple(targets.values()))
