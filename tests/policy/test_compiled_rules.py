"""The index of rules changes no decision: random policies are also decided rule by rule."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from prowess.policy import Policy, PolicyCall, PolicyFile, PolicyRule, RuleOrigin
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.rule import ArgumentMatch

if TYPE_CHECKING:
    from pathlib import Path

_TOOLS = (
    "skills.load", "skills.read", "skills.run_script", "skills.invoke", "skills.*", "skill", "Skill", "*", "Bash",
    "Read", "Write", "read_file", "mcp__git__push", "mcp__git", "mcp__*", "skills_load", "Grep", "packages.install",
)  # fmt: skip
_NAMES = (
    "deploy",
    "other",
    "de*",
    "deploy@acme",
    "acme/deploy",
    "deploy@1.2",
    "caf\u00e9",
    "\uff43af\u00e9",
    "[do]*",
    "*",
)
_DIGESTS = tuple(f"sha256:{sign * 64}" for sign in "abc")
_COMMANDS = (
    "git push:*", "git *", "make", "rm -rf:*", "*", "/usr/bin/git push", "g*", "command:git push", "", "a:git",
    "$HOME/x",
)  # fmt: skip
_LINES = (
    "git push", "git status", "make all", "env git push", "bash -c 'git push'", "git log $X", "python3 -c 'git()'",
    "xargs", "/usr/bin/git push", "rm -r -f x", "'", "",
)  # fmt: skip
_PATHS = ("*.pem", "secrets/**", "/notes.md", "//etc/**", "docs/", "**", "", "a[bc].md", "[!a].md", "link/*", "path:*")
_FILES = ("k.pem", "secrets/a/k", "notes.md", "/etc/passwd", "docs/x/y", "ab.md", "link/x", "../up", "", "b.md")


def _matches(draw: random.Random, place: Path) -> tuple[ArgumentMatch, ...]:
    values = {
        "names": _NAMES,
        "skill": _NAMES,
        "skill.name": _NAMES,
        "skill.digest": (*_DIGESTS, "sha256:a*"),
        "skill.source": ("acme", "Acme/Tools", f"{place}/real", f"{place}/link", f"{place}/*", f"{place}/none", "*"),
        "skill.layer": ("plugin", "project", "p*"),
        "skill.publisher": ("key sha256:1", "key*"),
        "command": _COMMANDS,
        "file_path": _PATHS,
        "path": _PATHS,
        "text": ("x", "y*", "1"),
        "skill.file": _DIGESTS,
        "skill.capability": ("scripts", "file:*"),
        "who.user": ("ada", "a*"),
        "who.role": ("author", "*er"),
    }
    return tuple(
        ArgumentMatch(argument=argument, patterns=tuple(draw.choices(values[argument], k=draw.choice((1, 1, 2)))))
        for argument in draw.sample(tuple(values), draw.choice((0, 1, 1, 1, 2)))
    )


def _skill(draw: random.Random, place: Path) -> SkillIdentity:
    facts: dict[str, object] = {
        "name": draw.choice(("deploy", "other", "caf\u00e9", "dex")),
        "digests": (draw.choice(_DIGESTS),),
        "sources": draw.choice(
            (("acme",), ("acme/tools",), ("x", f"{place}/real/deploy", f"{place}/real", str(place)))
        ),
        "layer": draw.choice(("plugin", "project", "personal")),
        "publisher": draw.choice(("key sha256:1", "other")),
        "copies": draw.choice(((), ("deploy@acme", "deploy@1.2"))),
        "files": draw.choice((frozenset(), frozenset(_DIGESTS[:2]))),
        "capabilities": draw.choice(((), ("scripts",), ("file:read", "file:write"))),
        "pending": draw.choice((frozenset(), frozenset(), frozenset({"publisher"}))),
    }
    return SkillIdentity(**{name: value for name, value in facts.items() if draw.random() > 0.2})  # type: ignore[arg-type]


def _call(draw: random.Random, place: Path) -> PolicyCall:
    name = draw.choice(
        ("deploy", "other", "deploy@acme", "acme/deploy", "deploy@1.2", " caf\u00e9", "/deploy now", "dex")
    )
    arguments: dict[str, object] = {
        "names": draw.choice(([name], [name, "other"], name, [], 3)),
        "skill": draw.choice((name, name, None, 3)),
        "skill_name": name,
        "command": draw.choice((*_LINES, 7)),
        "file_path": draw.choice(_FILES),
        "path": draw.choice((*_FILES, 7)),
        "text": draw.choice(("x", "yes", 1, ["x", "z"])),
        "a": "git",
    }
    tools = (*(tool for tool in _TOOLS if "*" not in tool), "unknown", "mcp__git__pull")
    return PolicyCall(
        tool=draw.choice(tools),
        arguments={key: value for key, value in arguments.items() if draw.random() < 0.5},
        accepts=draw.choice((None, None, frozenset({"names", "skill", "text", "command"}))),
        who=draw.choice((None, {}, {"user": ("eve", "ada")}, {"user": ("ada",), "role": ("author", "viewer")})),
        skills=draw.choice((None, (), (_skill(draw, place),), (_skill(draw, place), _skill(draw, place)))),
    )


def _rules(draw: random.Random, place: Path) -> tuple[PolicyRule, ...]:
    return tuple(
        PolicyRule(
            effect=draw.choice(("allow", "ask", "deny")),
            tool=draw.choice(_TOOLS),
            matches=_matches(draw, place),
            reason=None,
            origin=RuleOrigin(path="policy.toml", line=line),
            until=draw.choice((None, None, None, 1.0)),
        )
        for line in range(1, draw.choice((3, 12)))
    )


def _line_by_reading(file: PolicyFile, call: PolicyCall, workspace: str) -> int | None:
    """Return the line of the rule that decides: each rule is read, those that deny first."""
    for effect in ("deny", "ask", "allow"):
        for rule in file.rules:
            if rule.effect == effect and rule.applies(call, workspace) is not None:
                return rule.origin.line
    return None


def test_random_policies_decide_as_if_each_rule_were_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    draw, decided = random.Random(15), set()
    for _ in range(150):
        file = PolicyFile(path="policy.toml", rules=_rules(draw, tmp_path))
        for _ in range(20):
            call = _call(draw, tmp_path)
            decision = Policy(files=(file,)).decide(call, str(tmp_path))
            line = None if decision.origin is None else decision.origin.line
            assert line == _line_by_reading(file, call, str(tmp_path)), (file.rules, call)
            decided.add(type(decision).__name__ if line else "default")
    assert decided == {"Allow", "Ask", "Deny", "default"}


def test_a_certain_match_is_decided_by_the_one_decision_of_its_rule() -> None:
    rule = PolicyRule(
        effect="deny",
        tool="skills.load",
        matches=(ArgumentMatch(argument="names", patterns=("deploy",)),),
        reason="it is blocked",
        origin=RuleOrigin(path="policy.toml", line=1),
        id="no-deploy",
    )
    policy = Policy(files=(PolicyFile(path="policy.toml", rules=(rule,)),))
    decision = policy.decide(PolicyCall(tool="skills_load", arguments={"names": ["deploy"]}))
    assert decision is rule.decision
    assert decision is policy.decide(PolicyCall(tool="skills.load", arguments={"names": [" deploy"]}))
    assert (decision.reason, str(decision.origin)) == ("it is blocked", "policy.toml:1")
