"""A policy file is read key by key; each fault has its line, and layers are found where they belong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.toml_file import MAX_BYTES
from prowess.errors import PolicyError
from prowess.policy.expectations import check_expectations
from prowess.policy.policy_file import read_policy_file
from prowess.policy.policy_in_force import load_policy
from prowess.policy.rule import PolicyCall

if TYPE_CHECKING:
    from pathlib import Path

_WHOLE = """\
default = "deny"
allowed_tools = "preapprove"
dynamic_commands = true
script_dirs = ["scripts", "bin"]
env_allow = ["TZ"]

[audit]
required = true

[[rule]]
effect = "allow"
tool = "Bash"
match = { command = ["git status:*", "git log:*"] }

[[rule]]
effect = "ask"
tool = "skills.*"
reason = "we look first"

[[expect]]
call = { tool = "Bash", arguments = { command = "git status" } }
effect = "allow"

[[expect]]
call = "Bash(git push)"
effect = "deny"

[[expect]]
call = "skills.load"
effect = "ask"

[[expect]]
call = "Read(a.md)"
effect = "allow"
"""


def test_an_unknown_array_of_tables_is_reported_at_its_first_table(tmp_path: Path) -> None:
    path = _write(
        tmp_path, 'default = "deny"\n\n[[rule]]\neffect = "allow"\ntool = "Bash"\n\n[[rul]]\neffect = "deny"\n'
    )
    with pytest.raises(PolicyError, match=":7: rul: is not a key"):
        read_policy_file(path)


def _write(place: Path, text: str | bytes, name: str = "policy.toml") -> str:
    path = place / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def _problems(place: Path, text: str | bytes) -> list[str]:
    path = _write(place, text)
    with pytest.raises(PolicyError) as caught:
        read_policy_file(path)
    return [problem.removeprefix(path) for problem in caught.value.problems]


def test_every_key_is_read_into_its_type(tmp_path: Path) -> None:
    path = _write(tmp_path, _WHOLE)
    policy = read_policy_file(path)
    assert (policy.default, policy.allowed_tools, policy.dynamic_commands) == ("deny", "preapprove", True)
    assert (policy.script_dirs, policy.env_allow, policy.audit_required) == (("scripts", "bin"), ("TZ",), True)
    first, second = policy.rules
    assert (str(first), str(first.origin)) == ("allow Bash(command: git status:* | git log:*)", f"{path}:10")
    assert (second.reason, second.origin.line) == ("we look first", 15)
    assert [expected.call for expected in policy.expectations] == [
        PolicyCall(tool="Bash", arguments={"command": "git status"}),
        PolicyCall(tool="Bash", arguments={"command": "git push"}),
        PolicyCall(tool="skills.load", arguments={}),
        PolicyCall(tool="Read", arguments={"file_path": "a.md"}),
    ]


def test_expectations_are_held_against_the_rules_of_the_file(tmp_path: Path) -> None:
    outcomes = check_expectations(read_policy_file(_write(tmp_path, _WHOLE)), str(tmp_path))
    assert [outcome.holds for outcome in outcomes] == [True, True, True, False]


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    policy = read_policy_file(_write(tmp_path, ""))
    assert (policy.rules, policy.default, policy.audit_required, policy.script_dirs) == ((), None, None, None)


_DENY = '[[rule]]\neffect = "deny"\ntool = "a"\n'
_CALL = 'must be { tool = "...", arguments = { ... } } or a text such as "Bash(git status)"'
_UNLOAD = (
    "no rule may deny or ask about skills.unload, because unloading a skill is always allowed; "
    "to prevent the use of skills, deny skills.load"
)
_PATTERNS = "must be a pattern or a list of patterns"
_UNKNOWN = "is not a key of a policy file; known here:"
_TOOL = '{ tool = "a", x = 1 }'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('defualt = "deny"\n', ":1: defualt: is not a key of a policy file; did you mean 'default'?"),
        ("zzz = 1\n", (":1: zzz: is not a key of a policy file; known here: default, allowed_tools, dynamic_commands, "
         "script_dirs, env_allow, read_scripts, audit, machine, packages, roles, approval, rule, expect")),
        ('\ndefault = "maybe"\n', ":2: default: must be one of allow, ask, deny"),
        ("default = 1\n", ":1: default: must be one of allow, ask, deny"),
        ('allowed_tools = "on"\n', ":1: allowed_tools: must be one of restrict, ask, preapprove"),
        ('dynamic_commands = "yes"\n', ":1: dynamic_commands: must be true or false"),
        ("script_dirs = [1]\n", ":1: script_dirs: must be a list of texts"),
        ('script_dirs = [""]\n', ":1: script_dirs: must be a list of texts"),
        ('script_dirs = ["../x"]\n', (":1: script_dirs: '../x' is not a directory of a skill: a '..' "
         "component could leave the skill's directory")),
        ('script_dirs = ["/bin"]\n', (":1: script_dirs: '/bin' is not a directory of a skill: it is "
         "absolute; give a path relative to the skill's directory")),
        ('script_dirs = ["."]\n', ":1: script_dirs: '.' is the whole skill; name directories in it"),
        ('env_allow = ["LD_PRELOAD"]\n', (":1: env_allow: env variable LD_PRELOAD is refused: it "
         "changes what a loader or an interpreter loads")),
        ('env_allow = ["A=B"]\n', (":1: env_allow: env name 'A=B' is not a variable name: "
         "letters, digits and _ only, not starting with a digit")),
        ('env_allow = ["PATH"]\n', ":1: env_allow: env variable PATH is set by the sandbox and cannot be replaced"),
        ('read_scripts = "yes"\n', ":1: read_scripts: must be true or false"),
        ('[[rule]]\neffect = "deny"\ntool = "skills.unload"\n', f":3: rule.tool: {_UNLOAD}"),
        ('[[rule]]\neffect = "ask"\ntool = "skills_unload"\n', f":3: rule.tool: {_UNLOAD}"),
        ('env_allow = "A"\n', ":1: env_allow: must be a list of texts"),
        ("audit = true\n", ":1: audit: must be a table"),
        ("[audit]\nrequired = 1\n", ":2: audit.required: must be true or false"),
        ("[audit]\nreqiured = true\n", ":2: audit.reqiured: is not a key of a policy file; did you mean 'required'?"),
        ("rule = 1\n", ":1: rule: must be written as [[rule]]"),
        ("[rule]\n", ":1: rule: must be written as [[rule]]"),
        ('[[rule]]\ntool = "a"\n', ":1: rule.effect: is missing; it is one of allow, ask, deny"),
        ('[[rule]]\neffect = "deny"\n', ":1: rule.tool: is missing"),
        ('[[rule]]\neffect = "deny"\ntool = ""\n', ":3: rule.tool: must be a text"),
        ('[[rule]]\neffect = "denny"\ntool = "a"\n', ":2: rule.effect: must be one of allow, ask, deny"),
        ('[[rule]]\neffect = "deny"\ntool = "a"\nreason = 1\n', ":4: rule.reason: must be a text"),
        ('[[rule]]\neffect = "deny"\ntool = "a"\nmatch = 1\n', ":4: rule.match: must be a table"),
        (f"{_DENY}match.x = 1\n", f":4: rule.match.x: {_PATTERNS}"),
        (f"{_DENY}[rule.match]\nx = []\n", f":5: rule.match.x: {_PATTERNS}"),
        (f'{_DENY}match = {{ x = "" }}\n', ":4: rule.match.x: a pattern is empty"),
        ('[[expect]]\ncall = 3\neffect = "deny"\n', f":2: expect.call: {_CALL}"),
        ('[[expect]]\ncall = "a b"\neffect = "deny"\n', f":2: expect.call: {_CALL}"),
        ('[[expect]]\ncall = "WebFetch(x)"\neffect = "deny"\n', f":2: expect.call: {_CALL}"),
        ('[[expect]]\ncall = { arguments = {} }\neffect = "deny"\n', ":2: expect.call.tool: is missing"),
        (
            f'[[expect]]\ncall = {_TOOL}\neffect = "deny"\n',
            f":2: expect.call.x: {_UNKNOWN} tool, arguments, skill, who",
        ),
        (
            '[[rule]]\neffect = "deny"\ntool = "Bash(git push:*)"\n',
            ":3: rule.tool: 'Bash(git push:*)' is not a tool name; write patterns for arguments under match",
        ),
        (
            '[[rule]]\neffect = "deny"\ntool = " Bash"\n',
            ":3: rule.tool: ' Bash' is not a tool name; write patterns for arguments under match",
        ),
        ("a = [\n", ": Invalid value (at end of document)"),
        ("a = 1\na = 2\n", ": Cannot overwrite a value (at line 2, column 6)"),
        (b"a = '\xff'\n", ": 'utf-8' codec can't decode byte 0xff in position 5: invalid start byte"),
        (b" " * (MAX_BYTES + 1), ": it is larger than 1048576 bytes"),
    ],
    ids=lambda value: ascii(value)[:40],
)  # fmt: skip
def test_a_fault_has_its_line_and_says_what_to_write(text: str | bytes, problem: str, tmp_path: Path) -> None:
    assert _problems(tmp_path, text) == [problem]


def test_every_fault_is_named_in_the_order_of_the_lines(tmp_path: Path) -> None:
    problems = _problems(tmp_path, 'x = 1\r\n[[rule]]\r\neffect = 1\r\ntool = 2\r\n[[rule]]\r\ntool = "a"\r\n')
    assert [problem.split(":")[1] for problem in problems] == ["1", "3", "4", "5"]


def test_nesting_without_end_is_a_fault(tmp_path: Path) -> None:
    assert len(_problems(tmp_path, "a = " + "[" * 100_000)) == 1


def test_what_is_no_file_is_a_fault_and_blocks_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("none", "No such file"), (".", "s a directory"), ("pipe", "not a regular file")):
        with pytest.raises(PolicyError, match=words):
            read_policy_file(str(tmp_path / name))


def test_layers_are_the_machines_the_users_and_the_named_one(tmp_path: Path) -> None:
    enterprise = str(tmp_path / "none.toml")
    assert load_policy(enterprise_file=enterprise).files == ()
    enterprise = _write(tmp_path, 'default = "allow"', "etc.toml")
    home = tmp_path.__class__(os.environ["PROWESS_HOME"])
    home.mkdir(parents=True)
    users = _write(home, 'default = "ask"')
    named = _write(tmp_path, 'default = "deny"', "named.toml")
    policy = load_policy(named, enterprise_file=enterprise)
    assert [file.path for file in policy.files] == [enterprise, users, named]


def test_a_named_file_must_be_there_and_every_fault_of_every_layer_is_told(tmp_path: Path) -> None:
    enterprise = _write(tmp_path, "x = 1", "etc.toml")
    with pytest.raises(PolicyError) as caught:
        load_policy(str(tmp_path / "none.toml"), enterprise_file=enterprise)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [enterprise, str(tmp_path / "none.toml")]


def test_a_link_that_leads_nowhere_is_not_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "etc.toml").symlink_to("gone")
    with pytest.raises(PolicyError):
        load_policy(enterprise_file=str(tmp_path / "etc.toml"))
