"""Rules and their registry, selection of rules, severities, and comments that suppress findings.

`meta` declares a rule, and `check` returns its findings. Each id is registered once. The profile determines which rules
run; a user can change this with `select`, `ignore` and `severity`.

A selector is a family (`spec`), the beginning of an id (`reference`) or an id (`name.format`). `select` replaces the
profile's choice, and `ignore` removes rules. If both name a rule, the more exact selector wins, and `ignore` wins a
tie: with `select=reference.missing, ignore=reference` that one rule runs. A selected rule that the profile does not
report runs at its default severity.

`severity` sets the severity of the findings of a selector; the most exact selector wins. The value off has the effect
of `ignore` with the selector. A severity for a rule's id also enables the rule if the profile does not report it and
`select` is empty. `shift` maps one severity to another for all rules, as presets do; it is applied before `severity`.

Comments in a SKILL.md may suppress findings:

    # prowess: ignore name.matchesDirectory             in the frontmatter
    <!-- prowess: ignore reference.missing, lint -->    in the body
    <!-- prowess: ignore-file body.tokens -->           for the whole file

A comment applies to its own line and, if there is no other text on the line, to the next line too. Selectors are as for
`--ignore`. The caller decides whether suppressions of a skill are applied at all, and whether they may hide findings of
the family `security`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct

from prowess._internal import yaml_reader
from prowess._internal.markdown import outline
from prowess._internal.text.near_words import near_words
from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError
from prowess.format.reading import judge
from prowess.format.rules.meta import Page, RuleMeta, Severities
from prowess.format.rules.table import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.document import SkillDocument
    from prowess.format.profiles import Profile


class Selection(Struct, frozen=True, kw_only=True):
    """A user's changes to the profile; empty fields change nothing. `None` as a severity means off."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | None], ...] = ()
    shift: tuple[tuple[Severity, Severity | None], ...] = ()

    @classmethod
    def checked(cls, select: Iterable[str], ignore: Iterable[str], known: Mapping[str, RuleMeta]) -> Selection:
        """Return a selection in which every selector names at least one of the rules `known`, by id.

        Raises:
            InvalidArgumentsError: a selector names no rule; one message for each, with similar names.
        """
        selection = cls(select=tuple(select), ignore=tuple(ignore))
        faults = [selector_fault(selector, known) for selector in (*selection.select, *selection.ignore)]
        if unknown := tuple(fault for fault in faults if fault is not None):
            raise InvalidArgumentsError(unknown)
        return selection

    def keeps(self, rule: RuleMeta, profile: Profile) -> bool:
        """Whether a rule runs."""
        return self._keeps(rule.id, rule.family, reported=rule.severity_in(profile.name) is not None)

    def _keeps(self, rule: str, family: str, *, reported: bool) -> bool:
        selector, level = self._level(rule, family)
        ignored = _exactness(
            self.ignore if level is not None or not selector else (*self.ignore, selector), rule, family
        )
        selected = _exactness(self.select, rule, family)
        set_by_id = _exactness((selector,), rule, family) if selector == rule and level is not None else 0
        if ignored and ignored >= max(selected, set_by_id):
            return False
        if self.select:
            return selected > 0
        return set_by_id > 0 or reported

    def judged(self, found: Diagnostic, profile: Profile, rules: Mapping[str, RuleMeta] = RULES) -> Diagnostic | None:
        """Return the finding at its severity in this profile, or `None` if it is not reported.

        `rules` are the declarations by id. A rule that is not among them is reported at the severity of the finding.
        """
        rule = rules.get(found.rule)
        level = found.severity if rule is None else rule.severity_in(profile.name)
        if not self._keeps(found.rule, found.family, reported=level is not None):
            return None
        found = judge(found.with_severity(level or found.severity), profile) or found
        severity: Severity | None = dict(self.shift).get(found.severity, found.severity)
        _, level = self._level(found.rule, found.family)
        severity = level or severity
        return None if severity is None else found.with_severity(severity)

    def _level(self, rule: str, family: str) -> tuple[str, Severity | None]:
        """Return the most exact selector of `severity` for the rule, and its level.

        If two are equal, the later one wins.
        """
        best = 0
        chosen: tuple[str, Severity | None] = ("", None)
        for selector, level in self.severity:
            exactness = _exactness((selector,), rule, family)
            if exactness and exactness >= best:
                best, chosen = exactness, (selector, level)
        return chosen


def selector_fault(selector: str, known: Mapping[str, RuleMeta]) -> str | None:
    """Return why a selector names no rule in `known`, by id; `None` if it names one."""
    families = tuple(
        dict.fromkeys(rule.family for rule in known.values())
    )  # a family without rules could select no rule, so it is refused
    if selector in families or any(_begins(rule, selector) for rule in known):
        return None
    return _unknown(selector, tuple(known), families)


def names_rule(selector: str, rule: str, family: str) -> bool:
    """Whether a selector is the rule's family, the beginning of its id, or its id."""
    return _exactness((selector,), rule, family) > 0


def _begins(rule: str, selector: str) -> bool:
    return rule == selector or rule.startswith(f"{selector}.")


def _exactness(selectors: tuple[str, ...], rule: str, family: str) -> int:
    """Rank the most exact selector for the rule: 0 for no match, 1 for its family, more for a longer part of its id."""
    best = 0
    for selector in selectors:
        if _begins(rule, selector):
            best = max(best, 1 + len(selector))
        elif selector == family:
            best = max(best, 1)
    return best


def _unknown(selector: str, rules: tuple[str, ...], families: tuple[str, ...]) -> str:
    prefixes = {rule.partition(".")[0] for rule in rules}
    near = near_words(selector, [*rules, *prefixes, *families], cutoff=0.7)
    hint = f"did you mean {near[0]}?" if near else f"families are {', '.join(families)}"
    return f"no rule or family is called {selector!r}; {hint}"


_GUARDED = "security"
_AS_THE_PROFILE_SAYS = Selection()
_WEIGHT = {Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}


class Judgement(Struct, frozen=True, kw_only=True):
    """Determines the findings reported for one skill: a profile, a selection, and a floor for `security`.

    The floor is the judgement without the project's settings, used if the project is not trusted. Such a project can
    make any rule stricter, but it can neither hide a security finding nor lower its severity. If `excluded` is true,
    only the findings that the floor reports are reported.
    """

    profile: Profile
    selection: Selection = _AS_THE_PROFILE_SAYS
    floor: Judgement | None = None
    excluded: bool = False

    def keeps(self, rule: RuleMeta) -> bool:
        """Whether a rule has to run for this skill."""
        if self.floor is not None and rule.family == _GUARDED and self.floor.keeps(rule):
            return True
        return not self.excluded and self.selection.keeps(rule, self.profile)

    def judge(self, findings: Iterable[Diagnostic], rules: Mapping[str, RuleMeta] = RULES) -> list[Diagnostic]:
        """Return the reported findings with their severities, in the given order.

        `rules` are the declarations of the rules by id; the default is the rules of the format.
        """
        return [judged for found in findings if (judged := self._judged(found, rules)) is not None]

    def _judged(self, found: Diagnostic, rules: Mapping[str, RuleMeta]) -> Diagnostic | None:
        here = None if self.excluded else self.selection.judged(found, self.profile, rules)
        if self.floor is None or found.family != _GUARDED:
            return here
        (below,) = self.floor.judge((found,), rules) or (None,)
        if here is None or below is None:
            return here or below
        return max(here, below, key=lambda one: _WEIGHT[one.severity])


Subject = TypeVar("Subject")


class RuleRegistry(Generic[Subject]):
    """The rules for one type of subject, sorted by `order`, then by id.

    Raises:
        ValueError: two rules have the same id.
    """

    def __init__(self, *rules: Rule[Subject]) -> None:
        ordered = sorted(rules, key=lambda rule: (rule.meta.order, rule.meta.id))
        self._rules = {rule.meta.id: rule for rule in ordered}
        if len(self._rules) != len(rules):
            ids = [rule.meta.id for rule in rules]
            twice = sorted({name for name in ids if ids.count(name) > 1})
            message = f"rule ids must be unique: {', '.join(twice)}"
            raise ValueError(message)

    def __iter__(self) -> Iterator[Rule[Subject]]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, rule_id: str) -> Rule[Subject]:
        return self._rules[rule_id]

    def check(self, subject: Subject, keeps: Callable[[RuleMeta], bool] | None = None) -> list[Diagnostic]:
        """Run the rules for which `keeps` is true, in order, and return their findings at default severities."""
        return [found for rule in self if keeps is None or keeps(rule.meta) for found in rule.check(subject)]


Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Rule(Protocol[Subject_contra]):
    """One rule for one type of subject. A rule reads only the subject and raises no errors."""

    meta: ClassVar[RuleMeta]

    def check(self, subject: Subject_contra) -> Iterable[Diagnostic]:
        """Return a finding for every place where the subject breaks the rule."""
        ...


UNUSED_SUPPRESSION = RuleMeta(
    id="suppression.unused",
    order=8,
    family="lint",
    severities=Severities(
        spec=Severity.WARNING, skillscraft=Severity.WARNING, boxxy=Severity.WARNING, claude_code=Severity.WARNING
    ),
    summary="A comment that suppresses findings has an effect.",
    page=Page(
        what="Looks for comments that suppress a rule without findings at that place.",
        why="A comment that is no longer needed hides the next fault.",
        example="A comment that suppresses `body.maxLines` in a body of 40 lines",
        instead="Remove it.",
    ),
)

_MARK = "prowess:"
_ASKED = r"prowess:[ \t]*(ignore-file|ignore)[ \t]+([\w.,\- \t]+?)[ \t]*"
_IN_BODY = r"<!--\s*([^\n]*?)\s*-->\s*"
_IN_FIELDS = r"(?m)^(?:|[^\n]*?[ \t])#[ \t]*(prowess:[^\n]*)$"
_MAX_SUPPRESSIONS = 200


class Suppression(Struct, frozen=True, kw_only=True):
    """One selector of one comment. The comment applies to the lines from `first` to `last`, both included, 1-based."""

    selector: str
    first: int
    last: float
    location: Location

    def fits(self, found: Diagnostic, document: SkillDocument) -> bool:
        """Whether this suppression applies to a finding on `document`."""
        if found.location.path != document.path or not names_rule(self.selector, found.rule, found.family):
            return False
        return self.first <= found.location.line <= self.last


class Suppressed(Struct, frozen=True, kw_only=True):
    """The remaining findings, the number of suppressed ones, and the suppressions that had no effect."""

    kept: tuple[Diagnostic, ...]
    silenced: int
    unused: tuple[Suppression, ...]


def suppressions(document: SkillDocument) -> tuple[Suppression, ...]:
    """Return the suppressions in a document's comments, in order. Comments inside code and values do not count."""
    if _MARK not in document.text:
        return ()
    return tuple(_asked(document))[:_MAX_SUPPRESSIONS]


def suppress(
    findings: Iterable[Diagnostic], asked: tuple[Suppression, ...], document: SkillDocument, *, security: bool
) -> Suppressed:
    """Remove suppressed findings. Findings of the family `security` stay unless `security` is true."""
    kept, used, silenced = [], set(), 0
    for found in findings:
        fitting = [one for one in asked if one.fits(found, document)]
        used.update(fitting)
        if fitting and (security or found.family != _GUARDED):
            silenced += 1
        else:
            kept.append(found)
    return Suppressed(kept=tuple(kept), silenced=silenced, unused=tuple(one for one in asked if one not in used))


def _asked(document: SkillDocument) -> Iterator[Suppression]:
    text, front = document.text, document.front_matter or ""
    start = 0
    for _ in range(document.front_matter_line - 1):
        start = text.find("\n", start) + 1
    values = sorted(_scalars(field.value for field in document.fields))
    for found in re.finditer(_IN_FIELDS, front):
        at = start + found.start(1)
        if not any(begin <= at < end for begin, end in values):
            yield from _selectors(document, found[1], at, start + found.end())
    if _MARK in document.body:
        for begin, end in outline(document.body).comments:
            comment = re.fullmatch(_IN_BODY, document.body[begin:end])
            if comment is not None:
                stop = begin + len(document.body[begin:end].rstrip())
                yield from _selectors(document, comment[1], begin + document.body_offset, stop + document.body_offset)


def _selectors(document: SkillDocument, comment: str, start: int, end: int) -> Iterator[Suppression]:
    asked = re.fullmatch(_ASKED, comment.strip())
    if asked is None:
        return
    location = document.origin.location(start, end)
    text = document.text
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, after = text[line_start:start], text[end : line_end if line_end >= 0 else len(text)]
    alone = not before.strip(" \t#") and not after.strip()
    first, last = location.line, (location.end_line or location.line) + alone
    for selector in re.split(r"[\s,]+", asked[2]):
        if asked[1] == "ignore-file":
            yield Suppression(selector=selector, first=1, last=float("inf"), location=location)
        elif selector:
            yield Suppression(selector=selector, first=first, last=last, location=location)


def _scalars(nodes: Iterable[yaml_reader.Node]) -> Iterator[tuple[int, int]]:
    waiting = list(nodes)
    while waiting:
        match waiting.pop():
            case yaml_reader.Scalar(start=start, end=end):
                yield start, end
            case yaml_reader.Sequence(items=items):
                waiting += items
            case yaml_reader.Mapping(entries=entries):
                waiting += [node for entry in entries for node in entry]
