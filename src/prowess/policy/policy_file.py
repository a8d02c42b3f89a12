"""Policy files: TOML, checked key by key. Every fault is reported with its line.

    default = "ask"                              # allow, ask or deny; ask if it is not set

    [[rule]]
    effect = "deny"
    tool = "Bash"
    match = { command = "git push:*" }
    reason = "people push"

    [[expect]]
    call = { tool = "Bash", arguments = { command = "git push" } }    # or "Bash(git push)"
    effect = "deny"

An unknown key is an error, not a warning, because a misspelt `deny` would otherwise permit calls. A file that cannot be
read permits no call.

A file whose name ends in `.yaml` or `.yml` has the block `skill-policy` (`prowess.policy.skill_policy_block`).
The table `[packages]` is described in `prowess.policy.packages.package_rules`, entries `[[approval]]` in
`prowess.policy.approvals.rules`, and `[roles]` in `prowess.policy.roles`.

The keys `skill` and `who` of `call` describe the skill that the call is about, and who makes it, by the names of the
facts that rules match.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess._internal.text.canonical_json import sha256_of
from prowess._internal.text.variable_names import name_fault
from prowess.errors import PolicyError, UnsafePathError
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.tool_patterns import COMMAND_TOOLS, FILE_TOOLS, PATHS, SEARCH_TOOLS, path_pattern_fault
from prowess.policy.approvals.rules import APPROVED_FACT, ApprovalRule, read_approval_rules
from prowess.policy.compiled_rules import CompiledRules
from prowess.policy.decision import Allow, Ask, Decision, Deny, RuleOrigin
from prowess.policy.facts.requester import REQUESTER_FACTS, REQUESTER_PREFIX
from prowess.policy.facts.skill_identity import APPROVED, FACTS, PREFIX, SkillIdentity, fact_fault, is_fact
from prowess.policy.machine.machine_rules import AUDIT_SINKS, AuditSink
from prowess.policy.packages.package_rules import PACKAGE_KEYS, TOO_OLD, PackageRules, seconds_of
from prowess.policy.restriction import RESTRICTION_MODES
from prowess.policy.roles import RoleTable, read_roles
from prowess.policy.rule import EFFECTS, ArgumentMatch, Effect, PolicyCall, PolicyRule
from prowess.policy.skill_policy_block import rules_of_block
from prowess.policy.table_reader import TableReader
from prowess.policy.tool_names import ALWAYS_ALLOWED, canonical_tool_name

if TYPE_CHECKING:
    from prowess.policy.restriction import RestrictionMode

_DAY_SECONDS = 86_400
_MOST_RETAINED = 36_525 * _DAY_SECONDS
_NO_AGE = 'must be a number of seconds, minutes, hours or days, such as "7d"'
_ALWAYS_ALLOWED_FAULT = (
    f"no rule may deny or ask about {ALWAYS_ALLOWED}, because unloading a skill is always allowed; "
    "to prevent the use of skills, deny skills.load"
)
RuleMode = Literal["enforce", "monitor"]
AuditDetail = Literal["kept", "digest"]
AUDIT_DETAILS: tuple[AuditDetail, ...] = ("kept", "digest")
YAML_ENDINGS = (".yaml", ".yml")
MODES: tuple[RuleMode, ...] = ("enforce", "monitor")
_DAY = len("2026-12-31")

DEFAULT_EFFECT: Effect = "ask"
_OF_FILES = frozenset({"skill.file", "skill.capability"})
FINDINGS_FACT = "skill.findings"
_OF_CONTENT = _OF_FILES | {"skill.digest", APPROVED_FACT, FINDINGS_FACT}
_SETTINGS = ("default", "allowed_tools", "dynamic_commands", "script_dirs", "env_allow", "read_scripts")
_KEYS = (*_SETTINGS, "audit", "machine", "packages", "roles", "approval", "rule", "expect")


class Expectation(Struct, frozen=True, kw_only=True):
    """An `[[expect]]` entry: a call and the effect that the file must have on it."""

    call: PolicyCall
    effect: Effect
    origin: RuleOrigin


class PolicyFile(Struct, frozen=True, kw_only=True, dict=True):
    """One policy file. A setting is None if the file does not set it.

    `default` applies to calls that match no rule. If `audit_required` is true, a call that cannot be recorded is
    refused. `audit_command` and `audit_output` set whether records have command lines and outputs of scripts, or only
    their digests. `audit_sink` is the log that must have the record: that of the session (`file`), of the
    `machine`, or the `central` one of the organisation.
    `audit_retain` are the seconds after which the organisation's log may remove the body of a record.
    `max_offline` are the seconds after which an enrolled machine that was cut off denies every call.
    `allowed_tools` sets whether `allowed-tools` of skills restrict, ask or pre-approve.
    `dynamic_commands` permits commands inside instructions. `script_dirs` are the directories of a skill whose scripts
    may run (relative, with `/`). `env_allow` are the host's environment variables that scripts receive. `read_scripts`
    permits models to read the text of scripts. If `built_in` is true, calls that match no rule are decided as without a
    policy file. `is_shared` is true for a policy of the store of an organisation, whose `path` is no path of this
    machine.
    """

    path: str
    digest: str = ""  # of the bytes read
    rules: tuple[PolicyRule, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    default: Effect | None = None
    audit_required: bool | None = None
    audit_command: AuditDetail | None = None
    audit_output: AuditDetail | None = None
    audit_sink: AuditSink | None = None
    audit_retain: int | None = None
    max_offline: int | None = None
    allowed_tools: RestrictionMode | None = None
    dynamic_commands: bool | None = None
    script_dirs: tuple[str, ...] | None = None
    env_allow: tuple[str, ...] | None = None
    read_scripts: bool | None = None
    packages: PackageRules | None = None
    approval_rules: tuple[ApprovalRule, ...] = ()
    roles: RoleTable | None = None
    built_in: bool = False
    is_shared: bool = False

    @cached_property
    def compiled(self) -> CompiledRules:
        """The rules that are enforced, indexed when the first call is decided."""
        return CompiledRules([rule for rule in self.rules if not rule.monitored])

    @cached_property
    def monitored(self) -> CompiledRules:
        """The rules that are only monitored."""
        return CompiledRules([rule for rule in self.rules if rule.monitored])

    @cached_property
    def ends(self) -> tuple[float, ...]:
        """The times at which rules end, in seconds since the epoch."""
        return tuple(sorted({rule.until for rule in self.rules if rule.until is not None}))

    @cached_property
    def unmatched(self) -> Decision:
        """The decision about calls that no rule matches."""
        said = "its default" if self.default else "no rule matches the call and the file sets no default"
        reason, effect = f"{self.path}: {said}", self.default or DEFAULT_EFFECT
        if effect == "ask":
            return Ask(rule="default", reason=reason, by_default=True)
        return (Allow if effect == "allow" else Deny)(rule="default", reason=reason)

    @cached_property
    def needs_skills(self) -> bool:
        """Whether a rule needs more facts about a call's skills than their names in the arguments."""
        return bool(self.approval_rules) or any(rule.needs_skills for rule in self.rules)

    @cached_property
    def has_approved(self) -> bool:
        """Whether a rule matches skills by whether people have approved them."""
        return any(match.argument == APPROVED_FACT for rule in self.rules for match in rule.matches)

    @cached_property
    def needs_digests(self) -> bool:
        """Whether a rule needs a fact about a skill that requires reading its files."""
        return any(match.argument in _OF_CONTENT for rule in self.rules for match in rule.matches)

    @cached_property
    def needs_files(self) -> bool:
        """Whether a rule needs the digests of single files or the capabilities of a skill."""
        return any(match.argument in _OF_FILES for rule in self.rules for match in rule.matches) or any(
            rule.needs_capabilities for rule in self.approval_rules
        )

    @cached_property
    def needs_findings(self) -> bool:
        """Whether a rule needs the worst security finding on a skill."""
        return any(match.argument == FINDINGS_FACT for rule in self.rules for match in rule.matches)

    @cached_property
    def needs_requester(self) -> bool:
        """Whether a rule is about who makes a call."""
        return any(match.is_about_requester for rule in self.rules for match in rule.matches)


def read_policy_file(path: str) -> PolicyFile:
    """Read one policy file. If it is missing, unreadable or invalid, raise PolicyError with every fault."""
    try:
        data = read_toml_bytes(path)
    except ValueError as fault:
        raise PolicyError((str(fault),)) from None
    return policy_file_of(path, data)


def policy_file_of(path: str, data: bytes) -> PolicyFile:
    """Return the policy file with these bytes. `path` is its name in messages. Raise PolicyError with every fault."""
    try:
        if path.endswith(YAML_ENDINGS):
            return PolicyFile(path=path, digest=sha256_of(data), rules=rules_of_block(path, data), built_in=True)
        file = TomlFile(path, data)
    except ValueError as fault:
        raise PolicyError((str(fault),)) from None
    policy = _Reader(file).read(file.content)
    if file.faults:
        raise PolicyError(file.faults)
    return replace(policy, digest=sha256_of(data))


class _Reader(TableReader):
    def read(self, content: dict[str, object]) -> PolicyFile:
        self.only(content, _KEYS)
        audit, packages = self.table(content, "audit"), self.table(content, "packages")
        self.only(audit, ("required", "command", "output", "sink", "retain"), "audit")
        roles = read_roles(self, content)
        return PolicyFile(
            path=self.path,
            default=self.choice(content, "default", EFFECTS),
            allowed_tools=self.choice(content, "allowed_tools", RESTRICTION_MODES),
            dynamic_commands=self.switch(content, "dynamic_commands"),
            script_dirs=self._directories(content, "script_dirs"),
            env_allow=self._variables(content, "env_allow"),
            read_scripts=self.switch(content, "read_scripts"),
            audit_required=self.switch(audit, "required", "audit"),
            audit_command=self.choice(audit, "command", AUDIT_DETAILS, "audit"),
            audit_output=self.choice(audit, "output", AUDIT_DETAILS, "audit"),
            max_offline=self._max_offline(self.table(content, "machine")),
            audit_sink=self.choice(audit, "sink", AUDIT_SINKS, "audit"),
            audit_retain=self._retain(audit),
            packages=self._packages(packages) if "packages" in content else None,
            roles=roles,
            approval_rules=read_approval_rules(self, content, roles),
            rules=self.each(content, "rule", self._rule),
            expectations=self.each(content, "expect", self._expectation),
        )

    def _max_offline(self, table: dict[str, object]) -> int | None:
        self.only(table, ("max_offline",), "machine")
        text = self.text(table, "max_offline", "machine")
        seconds = None if text is None else seconds_of(text)
        if text is not None and seconds is None:
            self.fault(_NO_AGE, "machine", "max_offline")
        return seconds

    def _retain(self, audit: dict[str, object]) -> int | None:
        text = self.text(audit, "retain", "audit")
        seconds = None if text is None else seconds_of(text)
        if text is not None and (seconds is None or not _DAY_SECONDS <= seconds <= _MOST_RETAINED):
            self.fault('must be a time from a day to a hundred years, such as "400d"', "audit", "retain")
        return seconds

    def _packages(self, table: dict[str, object]) -> PackageRules:
        self.only(table, PACKAGE_KEYS, "packages")
        max_age = self.text(table, "max_age", "packages")
        if max_age is not None and seconds_of(max_age) is None:
            self.fault(_NO_AGE, "packages", "max_age")
        return PackageRules(
            sources=self.texts(table, "sources", "packages"),
            require_signature=self.switch(table, "require_signature", "packages"),
            max_age=None if max_age is None else seconds_of(max_age),
            too_old=self.choice(table, "too_old", TOO_OLD, "packages"),
            origin=self.origin("packages"),
        )

    def _rule(self, table: dict[str, object], *at: str | int) -> PolicyRule:
        self.only(table, ("effect", "tool", "match", "reason", "id", "until", "mode"), *at)
        matches = self._with_facts(self.table(table, "match", *at), *at, "match")
        monitored = self.choice(table, "mode", MODES, *at) == "monitor"
        if monitored and table.get("effect") == "allow":
            self.fault("only rules that deny or ask can be monitored", *at, "mode")
        tool = self.text(table, "tool", *at, needed=True) or ""
        if canonical_tool_name(str(table.get("tool"))) == ALWAYS_ALLOWED and table.get("effect") != "allow":
            self.fault(_ALWAYS_ALLOWED_FAULT, *at, "tool")
        if tool != tool.strip() or "(" in tool:
            self.fault(f"{tool[:80]!r} is not a tool name; write patterns for arguments under match", *at, "tool")
        return PolicyRule(
            effect=self._effect(table, *at),
            tool=tool,
            matches=tuple(
                self._match(matches, name, *at, "match", names_files=name in PATHS and not tool.startswith("skill"))
                for name in matches
            ),
            reason=self.text(table, "reason", *at),
            origin=self.origin(*at),
            id=self.unique_id(table, *at),
            until=self._until(table, *at),
            monitored=monitored,
        )

    def _until(self, table: dict[str, object], *at: str | int) -> float | None:
        """Return the end in seconds since the epoch. A day is included; a time without an offset is in UTC."""
        value = table.get("until")
        try:
            if isinstance(value, str):
                is_day = len(value.strip()) <= _DAY
                value = datetime.fromisoformat(value.strip()) + timedelta(days=is_day)
            elif isinstance(value, date) and not isinstance(value, datetime):
                value = datetime.combine(value, time()) + timedelta(days=1)
        except ValueError:
            value = None
        except OverflowError:  # the day after the last one
            value = datetime.max.replace(tzinfo=UTC)
        if isinstance(value, datetime):
            return (value.replace(tzinfo=UTC) if value.tzinfo is None else value).timestamp()
        if "until" in table:
            self.fault('must be a day such as 2026-12-31 or a time such as "2026-12-31T18:00Z"', *at, "until")
        return None

    def _with_facts(self, table: dict[str, object], *at: str | int) -> dict[str, object]:
        """Return a table of matches in which nested tables `skill` and `who` became keys `skill.FACT`, `who.FACT`."""
        for prefix, known in ((PREFIX, FACTS), (REQUESTER_PREFIX, REQUESTER_FACTS)):
            facts = table.get(prefix[:-1])
            if isinstance(facts, dict):
                self.only(facts, known, *at, prefix[:-1])
                table = {key: value for key, value in table.items() if key != prefix[:-1]}
                table |= {f"{prefix}{fact}": value for fact, value in facts.items() if fact in known}
            for key in table:
                if key.startswith(prefix):
                    self.only({key.removeprefix(prefix): None}, known, *at)
        return table

    def _match(self, table: dict[str, object], argument: str, *at: str | int, names_files: bool) -> ArgumentMatch:
        value = table[argument]
        if argument == APPROVED_FACT and isinstance(value, bool):
            value = APPROVED[not value]
        patterns = [value] if isinstance(value, str) else value
        if not isinstance(patterns, list) or not patterns or not all(isinstance(text, str) for text in patterns):
            self.fault("must be a pattern or a list of patterns", *at, argument)
            patterns = []
        if argument == "skill.file":  # `sha256sum` prints the digits alone
            patterns = [f"sha256:{text}" if re.fullmatch("[0-9a-f]{64}", text) else text for text in patterns]
        if not all(cast("list[str]", patterns)):
            self.fault("a pattern is empty", *at, argument)
        for why in map(path_pattern_fault, patterns) if names_files else ():
            if why is not None:
                self.fault(why, *at, argument)
        for pattern in patterns if is_fact(argument) else ():
            if (why := fact_fault(argument.removeprefix(PREFIX), pattern)) is not None:
                self.fault(why, *at, argument)
        return ArgumentMatch(argument=argument, patterns=tuple(patterns))

    def _expectation(self, table: dict[str, object], *at: str | int) -> Expectation:
        self.only(table, ("call", "effect"), *at)
        return Expectation(
            call=self._call(table, *at),
            effect=self._effect(table, *at),
            origin=self.origin(*at),
        )

    def _call(self, table: dict[str, object], *at: str | int) -> PolicyCall:
        call = table.get("call")
        if isinstance(call, str) and (short := _short_call(call)):
            return short
        if isinstance(call, dict):
            self.only(call, ("tool", "arguments", "skill", "who"), *at, "call")
            tool = self.text(call, "tool", *at, "call", needed=True) or ""
            arguments, skills = self.table(call, "arguments", *at, "call"), None
            if "skill" in call:
                facts = self.table(call, "skill", *at, "call")
                self.only(facts, FACTS, *at, "call", "skill")
                words = [fact for fact in FACTS if fact != "approved"]
                approved = self.switch(facts, "approved", *at, "call", "skill")
                said = {fact: self.text(facts, fact, *at, "call", "skill") for fact in words}
                digest, source = said["digest"], said["source"]
                digests, sources = (digest,) if digest else (), (source,) if source else None
                file, capability = said["file"], said["capability"]
                skills = (
                    SkillIdentity(
                        name=said["name"],
                        layer=said["layer"],
                        publisher=said["publisher"],
                        digests=digests,
                        sources=sources,
                        files=None if file is None else frozenset({file}),
                        capabilities=None if capability is None else (capability,),
                        approved=approved,
                        findings=said["findings"],
                    ),
                )
            who = self.table(call, "who", *at, "call")
            self.only(who, REQUESTER_FACTS, *at, "call", "who")
            given = {fact: self.text(who, fact, *at, "call", "who") for fact in REQUESTER_FACTS if fact in who}
            known = {fact: (value,) for fact, value in given.items() if value is not None}
            return PolicyCall(tool=tool, arguments=arguments, skills=skills, who=known or None)
        self.fault('must be { tool = "...", arguments = { ... } } or a text such as "Bash(git status)"', *at, "call")
        return PolicyCall(tool="", arguments={})

    def _effect(self, table: dict[str, object], *at: str | int) -> Effect:
        if "effect" not in table:
            self.fault(f"is missing; it is one of {', '.join(EFFECTS)}", *at, "effect")
        return self.choice(table, "effect", EFFECTS, *at) or "deny"

    def _directories(self, table: dict[str, object], key: str) -> tuple[str, ...] | None:
        listed = self.texts(table, key)
        paths: list[str] = []
        for name in listed or ():
            try:
                parts = check_relative(name)
            except UnsafePathError as fault:
                self.fault(f"{name!r} is not a directory of a skill: {fault.reason}", key)
                continue
            if not parts:
                self.fault(f"{name!r} is the whole skill; name directories in it", key)
            paths.append("/".join(parts))
        return None if listed is None else tuple(paths)

    def _variables(self, table: dict[str, object], key: str) -> tuple[str, ...] | None:
        listed = self.texts(table, key)
        for name in listed or ():
            if (fault := name_fault(name)) is not None:
                self.fault(fault, key)
        return listed


def _short_call(text: str) -> PolicyCall | None:
    """Parse the short form `Bash(git status)`: a tool and its main argument. Return None for any other text."""
    tokens = parse_allowed_tools(text).tokens
    if len(tokens) != 1:
        return None
    name, value = canonical_tool_name(tokens[0].name), tokens[0].pattern
    argument = COMMAND_TOOLS.get(name) or FILE_TOOLS.get(name, (None,))[0] or SEARCH_TOOLS.get(name)
    if value is None:
        return PolicyCall(tool=tokens[0].name, arguments={})
    return None if argument is None else PolicyCall(tool=tokens[0].name, arguments={argument: value})
