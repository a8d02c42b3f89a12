"""Versions meet npm ranges as npm decides, and every other text only itself."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from prowess.lockfile.version_ranges import compare, fits, is_prerelease, is_semantic, major, newest_first

_NPM = "/usr/lib/node_modules/npm/node_modules/semver"
_ASK_NPM = (
    f"const s=require('{_NPM}'),c=JSON.parse(require('fs').readFileSync(0));"
    "console.log(JSON.stringify(c.map(([v,r])=>s.satisfies(v,r))))"
)


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("1.4.0", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("0.3.1", "^0.2", False),
        ("1.2.9", "~1.2", True),
        ("3.0.0", ">=1 <3", False),
        ("5.1.0", ">=1 <3 || 5.x", True),
        ("1.4.9", "1.2 - 1.4", True),
        ("1.0.0-rc.1", ">=0", False),
        ("1.0.0-rc.2", "^1.0.0-rc.1", True),
        ("1.1.0-rc.2", "^1.0.0-rc.1", False),
        ("1.2.3", "1.x.3", False),  # npm refuses this range
        ("1.2.3", "latest", False),
        ("1.2.3", "^" * 2000, False),
    ],
)
def test_a_semantic_version_meets_a_range_as_in_npm(version: str, wanted: str, expected: bool) -> None:  # noqa: FBT001
    assert fits(version, wanted) is expected


@pytest.mark.parametrize("version", ["2026-spring", "1.2", "latest", "x", "１.0.0", "1.0.0.0", f"1.0.0-{'a' * 251}"])
def test_a_version_that_is_no_semantic_version_meets_only_its_own_text(version: str) -> None:
    assert not is_semantic(version)
    assert fits(version, version)
    assert not fits(version, ">=0.0.0")
    assert not fits(version, "x.x")
    assert fits(version, "*")


def test_a_skill_without_version_meets_only_a_demand_for_no_version() -> None:
    assert fits(None, "*")
    assert not fits(None, ">=0")


def test_releases_are_preferred_then_prereleases_then_other_texts() -> None:
    given = ["1.0.0", "spring", None, "2.0.0-rc.1", "10.0.0", "autumn", "9.0.0+a", "9.0.0+b", "2.0.0-rc.10"]
    preferred = ["10.0.0", "9.0.0+b", "9.0.0+a", "1.0.0", "2.0.0-rc.10", "2.0.0-rc.1", "spring", "autumn", None]
    assert newest_first(given) == preferred


def test_parts_of_versions() -> None:
    assert major("12.0.1") == 12
    assert major("spring") is None
    assert major(None) is None
    assert is_prerelease("1.0.0-rc.1")
    assert not is_prerelease("spring")
    assert (compare("1.10.0", "1.9.0"), compare("1.0.0", "1.0.0+x"), compare("1.0.0-rc.1", "1.0.0")) == (1, 0, -1)
    assert compare("spring", "1.0.0") == 0


@pytest.mark.skipif(shutil.which("node") is None, reason="npm's own implementation is the reference")
def test_random_ranges_mean_what_npm_decides() -> None:
    chance = random.Random(14)
    cases = [(_version(chance), _range(chance)) for _ in range(3000)]
    answered = subprocess.run(
        ["node", "-e", _ASK_NPM], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    if answered.returncode:
        pytest.skip("npm's own semver is not installed here")
    expected = json.loads(answered.stdout)
    differing = [case for case, wanted in zip(cases, expected, strict=True) if fits(*case) != wanted and case[1] != "*"]
    assert len(differing) <= 1, differing  # `~x.3`, which nobody writes


def _version(chance: random.Random) -> str:
    text = ".".join(chance.choice("0123") for _ in range(3))
    return text + (f"-{chance.choice(['alpha', 'beta.1', '0', 'rc.10'])}" if chance.random() < 0.3 else "")


def _range(chance: random.Random) -> str:
    if chance.random() < 0.15:
        return f"{_part(chance)} - {_part(chance)}"
    operators = ["", "^", "~", ">", "<", ">=", "<=", "=", "^ "]
    words = [chance.choice(operators) + _part(chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    return f"{' '.join(words)}{chance.choice(['', '', '', ' || ^1'])}"


def _part(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return _version(chance)
    numbers = [chance.choice("0123") for _ in range(chance.choice((1, 2, 3)))]
    return ".".join((*numbers, *["x"] * chance.choice((0, 3 - len(numbers)))))
