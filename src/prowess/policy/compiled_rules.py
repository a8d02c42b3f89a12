"""The rules of one policy file, indexed so that a decision examines only a few of them.

A rule is indexed by one of its conditions. Exact values are keys of dictionaries, patterns are joined into one regular
expression. A lookup returns every rule that may apply to a call, and perhaps others; `PolicyRule.applies` decides about
each of them. So the index changes no decision as long as it leaves out no rule that applies. If a call does not have
the value that rules are indexed by, or the value is unknown, the lookup returns all these rules.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Literal, assert_never

from prowess._internal.globs import DEEP, fits_text, is_glob, joined
from prowess._internal.shell.command_line import ShellParts, parse_command_line
from prowess._internal.shell.launchers import started_by
from prowess._internal.text.qualified_names import one_form
from prowess.format.fields.tool_patterns import COMMAND_TOOLS, FILE_TOOLS, SEARCH_TOOLS
from prowess.format.name import normalise
from prowess.policy.facts.requester import REQUESTER_PREFIX
from prowess.policy.facts.skill_identity import PREFIX, indexed_forms
from prowess.policy.patterns import command_pattern, path_pattern, resolve
from prowess.policy.rule import EFFECTS, as_load, is_load, spellings_of, texts_of, typed_name
from prowess.policy.tool_names import SKILL_ARGUMENTS, USER_TOOL, canonical_tool_name

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from prowess.policy.decision import Fit
    from prowess.policy.rule import ArgumentMatch, PolicyCall, PolicyRule

IndexKind = Literal["skill", "who", "program", "path", "argument"]
IndexKey = tuple[IndexKind, str]
_LOAD = "skills.load"
_MOST_TOOLS = 1024  # names of tools whose rules are kept
_BEST_FIRST = ("skill.name", "names", "skill", "skill.digest", "command", "skill.source", "skill.publisher")


class CompiledRules:
    """The rules of a file. Safe to use from several threads."""

    __slots__ = ("_by_tool", "_of_patterns", "_tools", "is_empty")

    def __init__(self, rules: Collection[PolicyRule]) -> None:
        self.is_empty = not rules
        self._by_tool: dict[str, list[tuple[int, PolicyRule]]] = {}
        self._of_patterns: list[tuple[int, PolicyRule]] = []
        self._tools: dict[str, _RulesOfTool] = {}
        # Numbered in the order in which they decide: first the rules that deny, then those that ask, then the others.
        for number, rule in enumerate(sorted(rules, key=lambda rule: -EFFECTS.index(rule.effect))):
            if is_glob(rule.tool) or rule.tool.startswith("mcp"):  # `mcp__git` means all tools of a server
                self._of_patterns.append((number, rule))
            else:
                self._by_tool.setdefault(canonical_tool_name(rule.tool), []).append((number, rule))

    def first(self, call: PolicyCall, workspace: str | None) -> tuple[PolicyRule, Fit] | None:
        """Return the rule that decides about the call, and its match. Rules that deny come first, then those that ask.

        Among rules with one effect, the first one of the file decides.
        """
        for rule in self._candidates(call, workspace):
            if (fit := rule.applies(call, workspace)) is not None:
                return rule, fit
        return None

    def applying(self, call: PolicyCall, workspace: str | None) -> Iterator[tuple[PolicyRule, Fit]]:
        """Yield every rule that applies to the call, with its match, in the order of `first`."""
        for rule in self._candidates(call, workspace):
            if (fit := rule.applies(call, workspace)) is not None:
                yield rule, fit

    def _candidates(self, call: PolicyCall, workspace: str | None) -> Iterable[PolicyRule]:
        tool = canonical_tool_name(call.tool)
        if (rules := self._tools.get(tool)) is None:
            rules = self._compiled(tool)
        return rules.candidates(call, workspace)

    def _compiled(self, tool: str) -> _RulesOfTool:
        if len(self._tools) >= _MOST_TOOLS:  # a caller chooses the name of a tool that does not exist
            self._tools.clear()
        named = {tool, _LOAD} if is_load(tool, "deny") else {tool}
        numbered = [*self._of_patterns, *(rule for name in named for rule in self._by_tool.get(name, ()))]
        compiled = self._tools[tool] = _RulesOfTool(tool, [rule for _, rule in sorted(numbered, key=itemgetter(0))])
        return compiled


class _RulesOfTool:
    """The rules that are about one tool, in the order in which they decide. A number is the place of a rule."""

    __slots__ = ("_always", "_groups", "_loads", "_rules", "_tool")

    def __init__(self, tool: str, rules: Iterable[PolicyRule]) -> None:
        self._tool, self._loads = tool, is_load(tool, "deny")
        self._rules: list[PolicyRule] = []
        self._always: list[int] = []
        groups: dict[IndexKey, _Group] = {}
        for rule in rules:
            as_loads = self._loads and is_load(tool, rule.effect) and rule.is_about(_LOAD)
            if (direct := rule.is_about(tool)) or as_loads:
                self._add(rule, groups, direct and rule.names_exactly(tool), as_loads and rule.names_exactly(_LOAD))
        for group in groups.values():
            group.join()
        self._groups = tuple(groups.items())

    def _add(self, rule: PolicyRule, groups: dict[IndexKey, _Group], *named: bool) -> None:
        number = len(self._rules)
        self._rules.append(rule)
        indexed = [(match, found) for match in rule.matches if (found := _index_of(match, self._tool)) is not None]
        if not indexed:
            self._always.append(number)
            return
        match, (key, terms) = min(indexed, key=lambda one: _rank(one[0]))
        groups.setdefault(key, _Group()).add(number, match, terms, *named)

    def candidates(self, call: PolicyCall, workspace: str | None) -> Iterable[PolicyRule]:
        """Return the rules that may apply to the call, in the order in which they decide."""
        found = set(self._always)
        load = as_load(call, "deny") if self._loads else None
        for (kind, name), group in self._groups:
            match kind:
                case "skill":
                    group.find(found, _of_skills(name, call, load))
                case "who":
                    group.find(found, (call.who or {}).get(name))
                case "argument":
                    group.find_argument(found, name, call, load)
                case "program":
                    group.find(found, _programs(call.arguments.get(name)), call.arguments)
                case "path":
                    group.find(found, _components(self._tool, call, workspace), call.arguments)
                case _:
                    assert_never(kind)
        if len(found) > 1:
            return [self._rules[number] for number in sorted(found)]
        return [self._rules[number] for number in found]


class _Group:
    """Rules that are indexed by one kind of value."""

    __slots__ = ("_all", "_exact", "_globs", "_joined", "_named", "_named_load", "_prefixes")

    def __init__(self) -> None:
        self._all: list[int] = []
        self._exact: dict[str, list[int]] = {}
        self._globs: list[tuple[str, int]] = []
        self._joined: re.Pattern[str] | None = None
        self._named: list[int] = []  # rules that name the tool exactly: they apply if the argument is missing
        self._named_load: list[int] = []  # the same, for a call that is judged as a load
        self._prefixes: set[str] = set()  # names of arguments that a pattern `NAME:VALUE` may be about

    def add(self, number: int, match: ArgumentMatch, terms: Iterable[str], *named: bool) -> None:
        """Add a rule with the values and patterns one of which a call must have."""
        self._all.append(number)
        for term in terms:
            self._exact.setdefault(term, []).append(number)
            if is_glob(term):
                self._globs.append((term, number))
        for rules, is_named in zip((self._named, self._named_load), named, strict=True):
            if is_named:
                rules.append(number)
        self._prefixes |= {pattern.partition(":")[0].strip() for pattern in match.patterns if ":" in pattern}

    def join(self) -> None:
        """Compile the patterns, once, when all rules are added."""
        if self._globs:
            self._joined = joined(term for term, _ in self._globs)

    def find(
        self, found: set[int], values: Collection[str] | None, arguments: Mapping[str, object] | None = None
    ) -> None:
        """Add the rules that may apply to a call with one of `values`, or all if `values` is None.

        All rules are added too if a pattern `NAME:VALUE` may be about one of `arguments`.
        """
        if values is None or (arguments is not None and not self._prefixes.isdisjoint(arguments)):
            found.update(self._all)
            return
        exact = self._exact
        if len(values) <= len(exact):
            for value in values:
                if value in exact:
                    found.update(exact[value])
        else:
            having = set(values)
            for value, numbers in exact.items():
                if value in having:
                    found.update(numbers)
        if self._joined is not None:
            for value in values:
                if self._joined.match(value):
                    found.update(number for term, number in self._globs if fits_text(value, term))

    def find_argument(self, found: set[int], name: str, call: PolicyCall, load: PolicyCall | None) -> None:
        """Add the rules that may apply to a call, or to the load that it is judged as, by the argument `name`."""
        if name in call.arguments:
            self.find(found, _of_argument(name, call))
        elif name in (call.accepts or ()):
            found.update(self._all)
        else:
            found.update(self._named)
        if load is not None and name in load.arguments:
            self.find(found, _of_argument(name, load))
        elif load is not None:
            found.update(self._named_load)


def _rank(match: ArgumentMatch) -> tuple[bool, int]:
    """Order the conditions of a rule: first exact values that few other rules have."""
    known = match.argument in _BEST_FIRST
    return any(map(is_glob, match.patterns)), _BEST_FIRST.index(match.argument) if known else len(_BEST_FIRST)


def _index_of(match: ArgumentMatch, tool: str) -> tuple[IndexKey, Collection[str]] | None:
    """Return the index of a rule, and the values and globs of which a call must have one; None if it has no index."""
    name, patterns = match.argument, match.patterns
    if match.is_fact:
        fact = name.removeprefix(PREFIX)
        terms = [indexed_forms(fact, pattern) for pattern in patterns + match.signers]
        return None if None in terms else (("skill", fact), {form for forms in terms for form in forms or ()})
    if match.is_about_requester:
        return ("who", name.removeprefix(REQUESTER_PREFIX)), set(patterns)
    if SEARCH_TOOLS.get(tool) == name:
        return None
    if COMMAND_TOOLS.get(tool) == name or name in FILE_TOOLS.get(tool, ()):
        kind: IndexKind = "program" if tool in COMMAND_TOOLS else "path"
        words = [_program_of(pattern) if kind == "program" else _component_of(pattern) for pattern in patterns]
        return None if None in words else ((kind, name), {word for word in words if word is not None})
    return ("argument", name), {form for pattern in patterns for form in (pattern, one_form(normalise(pattern)))}


def _program_of(pattern: str) -> str | None:
    """Return the program that a command must start to match; None if there is no such program."""
    words = command_pattern(pattern, ()).words
    return None if "$" in pattern or not words or is_glob(words[0]) else words[0]


def _component_of(pattern: str) -> str | None:
    """Return a component that a path must have to match, preferably without a glob; None if there is none."""
    if "$" in pattern:
        return None
    parts = [part for found in path_pattern(pattern).glob.alternatives for part in found if part not in {DEEP, "*"}]
    return min(parts, key=lambda part: (is_glob(part), -len(part)), default=None)


def _of_skills(fact: str, call: PolicyCall, load: PolicyCall | None) -> Collection[str] | None:
    """Return the values of a fact of the call's skills; None if one may have any value."""
    skills = call.skills
    if skills is None:
        skills = call.about if load is None else (*call.about, *load.about)
    found: Collection[str] = ()
    for skill in skills:
        values = None if fact in skill.pending else skill.values(fact)
        if values is None:
            return None
        found = {*found, *values} if found else values
    return found


def _of_argument(name: str, call: PolicyCall) -> Collection[str]:
    """Return the texts of an argument that rules compare; of a skill's name all its forms."""
    tool, values = canonical_tool_name(call.tool), texts_of(call.arguments[name])
    if SKILL_ARGUMENTS.get(tool) != name:
        return values
    names = [normalise(typed_name(value) if tool == USER_TOOL else value) for value in values]
    copies = [copy for skill in call.skills or () for copy in skill.copies]
    return spellings_of(names, copies)


def _components(tool: str, call: PolicyCall, workspace: str | None) -> Collection[str] | None:
    """Return the components of the paths that a call names; None if a path cannot be compared by its components."""
    named = [call.arguments[name] for name in FILE_TOOLS[tool] if name in call.arguments]
    found: set[str] = set()
    for path in named or (None,):
        real = resolve(path, workspace) if isinstance(path, str) else None
        if real is None or real.folded:
            return None
        found.update(real.absolute)
    return found


def _programs(line: object) -> set[str] | None:
    """Return the names of the programs that a command line may start; None if it may start any program."""
    parts = parse_command_line(line) if isinstance(line, str) else None
    if not isinstance(parts, ShellParts):
        return None
    found: set[str] = set()
    for part in parts.commands:
        others = started_by(part)
        if others.unknown or others.code:
            return None
        for command in (part, *others.commands):
            program = command.words[0]
            if program.expands:
                return None
            found.update((program.text, program.text.rpartition("/")[2]))
    return found
