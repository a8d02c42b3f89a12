"""Recorded calls under another policy: known answers, nothing unknown counts as allowed, and the log is verified."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.replaying import lines
from prowess import Catalog, Identity, Session
from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.cli.dispatch import run
from prowess.governance.replay.recorded_calls import replay_log, replay_records
from prowess.policy import Policy, PolicyFile, read_policy_file
from prowess.policy.decision import RuleOrigin, effect_of
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy_in_force import policy_alone
from prowess.policy.rule import EFFECTS, ArgumentMatch, PolicyCall, PolicyRule
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Capture = pytest.CaptureFixture[str]
_NOBODY = {"team": None, "roles": None, "agent": None, "tenant": None, "environment": None, "client": None}
_DEPLOY = {"skill": "deploy", "digest": f"sha256:{1:064x}", "source": "/srv/skills", "publisher": None}


def _record(sequence: int, kind: str, data: Mapping[str, object], call: str | None = None) -> str:
    fields = {"sequence": sequence, "at": f"2026-11-{sequence:02}T00:00:00.000000Z", "kind": kind, "session_id": "s"}
    return json.dumps({**fields, "call_id": call or str(sequence), "data": data, "previous": None, "hash": ""})


def _file(place: Path, records: Iterable[str], name: str = "records.jsonl") -> str:
    (place / name).write_text("".join(f"{record}\n" for record in records), encoding="utf-8")
    return str(place / name)


def _policy(place: Path, text: str) -> str:
    (place / "new.toml").write_text(text, encoding="utf-8")
    return str(place / "new.toml")


@pytest.fixture
def records(tmp_path: Path) -> str:
    ada = {"user": "ada", **_NOBODY, "team": "sales", "host": "h1", "layer": "project", **_DEPLOY}
    grace = {**ada, "user": "grace", "team": None, "layer": "enterprise"}
    return _file(
        tmp_path,
        [
            _record(1, "tool.started", {"tool": "skills.load", **ada}),
            _record(2, "skill.loaded", {"tool": "skills.load", **ada}, call="1"),
            _record(3, "tool.finished", {"tool": "skills.load", **ada, "outcome": "success"}, call="1"),
            _record(4, "tool.started", {"tool": "Bash", **ada}),
            _record(5, "tool.refused", {"tool": "skills.load", **grace, "code": "policy_denied", "rule": "old"}),
            _record(6, "tool.started", {"tool": "skills.read", **grace, "approval": "ask-1"}),
            _record(7, "tool.refused", {"tool": "publish", **grace, "code": "invalid_arguments"}),
            _record(8, "approval.given", {"tool": "skills.read", **grace}),
            _record(9, "tool.finished", {"tool": "skills.load", **ada, "outcome": "success"}, call="earlier"),
        ],
    )


@pytest.fixture
def in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _replay(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(["policy", "replay", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _counts(found: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(found[key] for key in ("records", "allow", "ask", "deny", "unknown", "changed"))


def test_a_rule_about_a_layer_and_a_team_denies_what_it_would_have_denied(
    records: str, tmp_path: Path, capsys: Capture
) -> None:
    path = _policy(
        tmp_path,
        'default = "allow"\n[[rule]]\nid = "sales"\neffect = "deny"\ntool = "skills.*"\n'
        'match = { who.team = "sales", skill.layer = "project" }\n',
    )
    found = _replay(capsys, path, "--records", records)
    assert _counts(found) == (6, 4, 0, 2, 0, 4)
    assert found["verified"] is False
    # The team of grace was not known, but her skill is of another layer.
    (rule,) = found["by_rule"]
    assert rule == {"rule": "sales", "origin": f"{path}:2", "effect": "deny", "records": 2, "first": 1, "last": 9}
    ada, grace = found["by_user"]
    assert (ada["user"], ada["deny"], ada["allow"]) == ("ada", 2, 1)
    assert (grace["user"], grace["deny"], grace["changed"]) == ("grace", 0, 2)


def test_what_was_not_known_is_refused_again_and_what_was_not_recorded_is_unknown(
    records: str, tmp_path: Path, capsys: Capture
) -> None:
    path = _policy(
        tmp_path,
        'default = "allow"\n[[rule]]\nid = "team"\neffect = "deny"\ntool = "*"\nmatch = { who.team = "finance" }\n'
        '[[rule]]\neffect = "deny"\ntool = "Bash"\nmatch = { command = "git push:*" }\n',
    )
    assert _counts(_replay(capsys, path, "--records", records)) == (6, 2, 0, 3, 1, 1)
    path = _policy(
        tmp_path, 'default = "deny"\n[[rule]]\neffect = "allow"\ntool = "*"\nmatch = { skill.capability = "scripts" }\n'
    )
    assert _counts(_replay(capsys, path, "--records", records))[4] == 6
    path = _policy(tmp_path, '[[rule]]\neffect = "deny"\ntool = "Bash"\n')
    found = _replay(capsys, path, "--records", records)
    assert _counts(found) == (6, 0, 5, 1, 0, 4)
    assert [(rule["effect"], rule["rule"], rule["records"]) for rule in found["by_rule"]] == [
        ("deny", "deny Bash", 1),
        ("ask", "default", 5),
    ]
    assert found["by_rule"][1]["origin"] is None


def test_a_span_of_time_selects_records(records: str, tmp_path: Path, capsys: Capture) -> None:
    path = _policy(tmp_path, 'default = "allow"\n')
    assert _counts(_replay(capsys, path, "--records", records, "--since", "2026-11-05"))[0] == 4
    assert _counts(_replay(capsys, path, "--records", records, "--until", "2026-11-04"))[0] == 2
    assert run(["policy", "replay", path, "--records", records]) == 0
    assert "6 calls (not verified): 6 allowed, 0 asked, 0 denied, 0 unknown; 2 would change" in capsys.readouterr().out


def test_a_key_that_a_record_lacks_is_unknown(tmp_path: Path, capsys: Capture) -> None:
    path = _policy(
        tmp_path, 'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = { skill.publisher = "key a" }\n'
    )
    said: list[dict[str, object]] = [
        {**_DEPLOY, "tool": "publish"},
        {"tool": "publish", "skill": "deploy"},
        {"tool": "publish"},
        {"tool": 1},
        {},
    ]
    made = [_record(number, "tool.started", data) for number, data in enumerate(said, start=1)]
    assert _counts(_replay(capsys, path, "--records", _file(tmp_path, made))) == (5, 0, 0, 1, 4, 1)
    other = [_record(1, "tool.started", {**_DEPLOY, "publisher": "key b", "tool": "publish"})]
    assert _counts(_replay(capsys, path, "--records", _file(tmp_path, other))) == (1, 1, 0, 0, 0, 0)
    none = [_record(1, "tool.started", {"tool": "publish", "skill": None, "publisher": None})]
    assert _counts(_replay(capsys, path, "--records", _file(tmp_path, none))) == (1, 1, 0, 0, 0, 0)


def test_a_directory_below_a_recorded_source_is_unknown_and_one_above_it_is_known(
    tmp_path: Path, capsys: Capture
) -> None:
    place = _file(tmp_path, [_record(1, "tool.started", {"tool": "skills.load", **_DEPLOY, "layer": "project"})])
    for source, place_in_counts in (("/srv", 3), ("/srv/skills", 3), ("/srv/skills/deploy", 4), ("/opt", 1)):
        text = f'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = {{ skill.source = "{source}" }}\n'
        assert _counts(_replay(capsys, _policy(tmp_path, text), "--records", place))[place_in_counts] == 1, source


def test_approvals_and_groups_are_not_recorded_and_listed_users_are(
    records: str, tmp_path: Path, capsys: Capture
) -> None:
    allow = 'default = "allow"\n'
    demand = '[[approval]]\nfor = ["new-skills"]\n'
    assert _counts(_replay(capsys, _policy(tmp_path, allow + demand), "--records", records)) == (6, 2, 0, 0, 4, 0)
    closed = '[[rule]]\neffect = "deny"\ntool = "*"\nmatch = { skill.approved = "false" }\n'
    assert _counts(_replay(capsys, _policy(tmp_path, allow + closed), "--records", records))[4] == 6
    roles = '[roles]\nothers = "viewer"\nuser = { users = ["ada"] }\n'
    assert _counts(_replay(capsys, _policy(tmp_path, allow + roles), "--records", records)) == (6, 4, 0, 2, 0, 1)
    groups = '[roles]\nothers = "viewer"\nuser = { groups = ["sales"] }\n'
    assert _counts(_replay(capsys, _policy(tmp_path, allow + groups), "--records", records)) == (6, 2, 0, 0, 4, 0)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("--records document.json", 1, "line 1: this is a document and not JSON lines"),
        ("--records torn.jsonl", 1, "line 2: is not a record"),
        ("--records none.jsonl", 1, "there is no such file"),
        ("--records torn.jsonl --log log", 2, "--log and --records exclude each other"),
        ("--log none", 1, "there is no log here"),
        ("--since yesterday", 2, "is not a date or time"),
    ],
)
@pytest.mark.usefixtures("in_place")
def test_bad_input_is_named(arguments: str, code: int, told: str, tmp_path: Path, capsys: Capture) -> None:
    Path("document.json").write_text(json.dumps({"log": "x", "records": []}), encoding="utf-8")
    _file(tmp_path, [_record(1, "tool.started", {}), '{"kind": "tool.started", "da'], "torn.jsonl")
    assert run(["policy", "replay", _policy(tmp_path, 'default = "allow"\n'), *arguments.split()]) == code
    assert told in capsys.readouterr().err
    assert run(["policy", "replay", _policy(tmp_path, "defualt = 1\n"), "--records", "torn.jsonl"]) != 0


def test_grouped_records_have_the_same_answer_as_each_alone(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[[rule]]\nid = "a"\neffect = "deny"\ntool = "skills.*"\nmatch = { skill.name = ["skill-1*", "skill-20"] }\n'
        '[[rule]]\nid = "b"\neffect = "allow"\ntool = "*"\nmatch = { who.team = "finance" }\n'
        '[[rule]]\neffect = "ask"\ntool = "Bash"\nmatch = { command = "rm:*" }\n',
        encoding="utf-8",
    )
    policy = policy_alone(str(tmp_path / "p.toml"))
    drawn = list(lines(10_000, 300))
    whole = replay_records(policy, _file(tmp_path, drawn))
    alone = [replay_records(policy, _file(tmp_path, [line], "one.jsonl")) for line in drawn[::40]]
    part = replay_records(policy, _file(tmp_path, drawn[::40]))
    for key in ("records", "allow", "ask", "deny", "unknown", "changed"):
        assert getattr(part, key) == sum(getattr(one, key) for one in alone)
    for rule in part.by_rule:
        same = [one for each in alone for one in each.by_rule if (one.rule, one.effect) == (rule.rule, rule.effect)]
        assert (rule.records, rule.first, rule.last) == (len(same), same[0].first, same[-1].last)
    assert whole.records == 10_000 == whole.allow + whole.ask + whole.deny + whole.unknown
    assert sum(user.records for user in whole.by_user) == 10_000


# ── whatever the record does not tell ──────────────────────────────────────────────────────────────────

_VALUES: dict[str, tuple[Any, ...]] = {
    "layer": ("project", "enterprise"),
    "publisher": (None, "key a"),
    "team": ("sales", "finance", None),
    "roles": (("x",), (), None),
}
_KEYS = {"layer": "skill.layer", "publisher": "skill.publisher", "team": "who.team", "roles": "who.role"}
_ARGUMENTS: dict[str, tuple[dict[str, object], ...]] = {
    "skills.load": ({"names": ["deploy"], "mode": "add"}, {"names": ["deploy"], "mode": "replace"}),
    "Bash": ({"command": "git push"}, {"command": "ls"}),
    "publish": ({"text": "a"}, {"text": "b"}),
}


def _random_policy(draw: random.Random) -> Policy:
    return Policy(files=(PolicyFile(path="p", default=draw.choice((*EFFECTS, None)), rules=tuple(_rules(draw))),))


def _rules(draw: random.Random) -> Iterator[PolicyRule]:
    for line in range(draw.randint(1, 5)):
        matches = {_KEYS[key]: str(draw.choice([v for v in _VALUES[key] if v] or ["x"])) for key in _KEYS}
        matches |= {"who.role": "x", "command": "git push:*", "text": "a", "skill.capability": "scripts", "mode": "add"}
        chosen = draw.sample(sorted(matches), draw.randint(0, 2))
        yield PolicyRule(
            effect=draw.choice(EFFECTS),
            tool=draw.choice(("*", "skills.*", "skills.load", "Bash", "publish")),
            matches=tuple(ArgumentMatch(argument=key, patterns=(matches[key],)) for key in chosen),
            reason=None,
            origin=RuleOrigin(path="p", line=line),
        )


def _effects(policy: Policy, tool: str, known: Mapping[str, Any]) -> set[str]:
    """Return the effects on every call that the record may be of."""
    found: set[str] = set()
    open_values = [[(key, value) for value in ([known[key]] if key in known else _VALUES[key])] for key in _VALUES]
    for values in itertools.product(*open_values):
        facts = dict(values)
        for arguments, capabilities in itertools.product(_ARGUMENTS[tool], ((), ("scripts",))):
            skill = SkillIdentity(
                name="deploy", layer=facts["layer"], publisher=facts["publisher"], capabilities=capabilities
            )
            who = {} if facts["team"] is None else {"team": (facts["team"],)}
            who |= {} if facts["roles"] is None else {"role": facts["roles"]}
            call = PolicyCall(tool=tool, arguments=arguments, accepts=frozenset(arguments), skills=(skill,), who=who)
            found.add(effect_of(policy.decide(call)))
    return found


def test_a_known_effect_is_the_effect_of_every_call_that_the_record_may_be_of(tmp_path: Path) -> None:
    draw = random.Random(20261129)
    known_effects, all_one = 0, 0
    for _ in range(40):
        policy = _random_policy(draw)
        for _ in range(6):
            tool = draw.choice(sorted(_ARGUMENTS))
            known = {key: draw.choice(values) for key, values in _VALUES.items() if draw.random() < 0.8}
            data = {"tool": tool, "skill": "deploy", "digest": None, "source": None, **known}
            found = replay_records(policy, _file(tmp_path, [_record(1, "tool.started", data)]))
            effect = next(name for name in ("allow", "ask", "deny", "unknown") if getattr(found, name))
            effects = _effects(policy, tool, known)
            assert effect == "unknown" or effects == {effect}, (policy, data)
            known_effects += effect != "unknown"
            all_one += len(effects) == 1
    assert known_effects > all_one * 0.75  # few calls are unknown without need


# ── logs of sessions ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.anyio
async def test_the_policy_that_decided_decides_the_same_again(tmp_path: Path) -> None:
    for name in ("deploy", "other"):
        write_skill(tmp_path / "skills", name, files={"references/a.md": "a\n", "scripts/a.sh": "true\n"})
    text = (
        'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.load"\nmatch = { skill.name = "other" }\n'
        f'[[rule]]\neffect = "deny"\ntool = "skills.read"\nmatch = {{ skill.source = "{tmp_path}/skills/deploy" }}\n'
        '[[rule]]\neffect = "ask"\ntool = "skills.run_script"\nmatch = { path = "scripts/a.sh", who.role = "author" }\n'
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    policy, log = Policy(files=(read_policy_file(str(tmp_path / "p.toml")),)), tmp_path / "log" / "audit.jsonl"
    identity = Identity(user="ada", roles=("author",))
    session = Session(
        Catalog(tmp_path / "skills"), audit=JsonlAuditLog(log, "second"), policy=policy, identity=identity
    )
    for tool, arguments in (
        ("skills.load", {"names": ["deploy"]}),
        ("skills.load", {"names": ["other"]}),
        ("skills.load", {"names": ["deploy", "other"]}),
        ("skills.read", {"path": "references/a.md"}),
        ("skills.run_script", {"path": "scripts/a.sh"}),
        ("skill", {"skill": " \uff44eploy "}),
        ("skills.unload", {"all": True}),
    ):
        await session.call(tool, arguments)
    await session.user_call("/other now")
    await session.close()
    found = replay_log(policy, str(log))
    assert (found.records, found.verified, found.unknown, found.changed) == (8, True, 0, 0)
    assert (found.allow, found.ask, found.deny) == (3, 1, 4)
    assert "now" not in str([json.loads(line)["data"].get("named") for line in log.read_text().splitlines()])


def test_a_log_is_verified_and_a_damaged_one_is_reported(tmp_path: Path, capsys: Capture) -> None:
    log = JsonlAuditLog(tmp_path / "log" / "audit.jsonl", "second")
    for number in range(5):
        log.append(AuditEvent(kind="tool.started", session_id="s", call_id=str(number), data={"tool": "publish"}))
    path = _policy(tmp_path, 'default = "deny"\n')
    found = _replay(capsys, path, "--log", log.path)
    assert (found["verified"], _counts(found)) == (True, (5, 0, 0, 5, 0, 5))
    text = Path(log.path).read_text(encoding="utf-8").replace('"call_id":"2"', '"call_id":"9"')
    Path(log.path).write_text(text, encoding="utf-8")
    assert run(["policy", "replay", path, "--log", log.path, "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["verified"] is False
    assert "run `prowess audit verify`" in told.err
