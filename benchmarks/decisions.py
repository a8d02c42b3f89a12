"""Decisions of a policy beside the `PolicyEngine` of agent-governance-toolkit-core, at 10, 100 and 1000 rules.

Both sides decide the same loads of skills: a rule for each of N skills denies its load, and every second call is about
a skill that no rule denies. A tenth of Prowess's rules are globs; the other side compares texts, because it has no
globs. Each side runs in a process of its own, in turns, and the least of the turns counts, for the median as for the
99th percentile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from benchmarks.peers import PeerMissingError, governance_toolkit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_RULES = (10, 100, 1000)
_TURNS, _MOST_TURNS = 3, 5
_TIMES = """
import json, sys, time
def report(decide, rules, calls):
    names = [f"skill-{(number * 7919) % rules}" if number % 2 else f"free-{number % 50}" for number in range(calls)]
    taken = []
    for name in names:
        begun = time.perf_counter_ns()
        denied = decide(name)
        taken.append(time.perf_counter_ns() - begun)
        assert denied == name.startswith("skill-"), name
    taken.sort()
    print(json.dumps([taken[len(taken) // 2] / 1000, taken[len(taken) * 99 // 100] / 1000]))
"""
_OURS = f"""{_TIMES}
from prowess.policy import Deny, Policy, PolicyCall, PolicyFile, PolicyRule, RuleOrigin
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.rule import ArgumentMatch
rules = int(sys.argv[1])
def rule(number):
    pattern = f"skill-{{number}}" if number % 10 else f"skil[l]-{{number}}"
    match = ArgumentMatch(argument="skill.name", patterns=(pattern,))
    origin = RuleOrigin(path="policy.toml", line=number + 1)
    return PolicyRule(effect="deny", tool="skills.load", matches=(match,), reason=None, origin=origin)
policy = Policy(files=(PolicyFile(path="policy.toml", default="allow", rules=tuple(map(rule, range(rules)))),))
def decide(name):
    call = PolicyCall(tool="skills.load", arguments={{"names": [name]}}, skills=(SkillIdentity(name=name),))
    return isinstance(policy.decide(call), Deny)
decide("free-0")
report(decide, rules, 4000)
"""
_THEIRS = f"""{_TIMES}
import warnings
warnings.simplefilter("ignore")
from agentmesh.governance.policy import Policy, PolicyEngine, PolicyRule
rules = int(sys.argv[1])
made = [PolicyRule(name=f"r{{n}}", condition=f"skill.name == 'skill-{{n}}'", action="deny") for n in range(rules)]
engine = PolicyEngine()
engine.load_policy(Policy(name="p", agents=["*"], rules=made, default_action="allow"))
def decide(name):
    return not engine.evaluate("did:a:b", {{"tool": "skills.load", "skill": {{"name": name}}}}).allowed
decide("free-0")
report(decide, rules, 600)
"""
_NAMES = {
    (10, "p50"): ("policy decision at 10 rules, median: agent-governance-toolkit / Prowess", None),
    (100, "p50"): ("policy decision at 100 rules, median: agent-governance-toolkit / Prowess", 10.0),
    (100, "p99"): ("policy decision at 100 rules, 99th percentile: agent-governance-toolkit / Prowess", 8.0),
    (1000, "p50"): ("policy decision at 1000 rules, median: agent-governance-toolkit / Prowess", 40.0),
}


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure both sides."""
    del corpora
    try:
        theirs = governance_toolkit()
    except PeerMissingError as missing:
        return [
            Figure(name=name, value=None, at_least=promised, note=str(missing)) for name, promised in _NAMES.values()
        ]
    least: dict[tuple[str, int, str], float] = {}
    for _ in range(min(max(rounds, _TURNS), _MOST_TURNS)):
        for rules in _RULES:
            for side, python, code in (("ours", sys.executable, _OURS), ("theirs", theirs, _THEIRS)):
                for name, taken in zip(("p50", "p99"), _microseconds(python, code, rules), strict=True):
                    key = (side, rules, name)
                    least[key] = min(taken, least.get(key, taken))
    return [
        Figure(
            name=name,
            value=least["theirs", rules, part] / least["ours", rules, part],
            at_least=promised,
            note=f"{least['ours', rules, part]:.0f} µs beside {least['theirs', rules, part]:.0f} µs of version 5.0.0",
        )
        for (rules, part), (name, promised) in _NAMES.items()
    ]


def _microseconds(python: str, code: str, rules: int) -> tuple[float, float]:
    done = subprocess.run([python, "-c", code, str(rules)], capture_output=True, text=True, check=True, timeout=300)
    median, high = json.loads(done.stdout.splitlines()[-1])
    return median, high
