"""Questions whether skills are approved, and votes that answer them.

A question is about the bytes of one skill and one rule. What a person is shown is one text, and the statement has its
digest. A vote that could not count is refused, with the reason.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.canonical_json import sha256_of
from prowess._internal.text.terminal_text import counted, printable_line
from prowess._internal.text.user_names import is_same_person
from prowess.errors import PolicyDeniedError, SkillError
from prowess.execution.interpreters import has_interpreter
from prowess.governance.voters import authorship
from prowess.policy.approvals.matching import ApprovalState, Votes, is_same_voter, statements_about, votes_for
from prowess.policy.approvals.rules import APPROVED_FACT, ApprovalRule
from prowess.policy.approvals.statements import Approvals, Vote, Voter, VoteStatement, approvals_path, request_id
from prowess.policy.decision import RuleOrigin
from prowess.policy.facts.capabilities import file_facts
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.signing.vote_signature import sign_vote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.format.skill import Skill
    from prowess.policy.policy import Policy
    from prowess.signing.keys import PrivateKey

_MOST_FILES = 200  # that are shown by name


class VoteRefusedError(SkillError):
    """A vote that would not count was not written; `reason` is a sentence."""

    code = "invalid_request"
    reason: str
    sentence = "{reason}"


class Ballot(Struct, frozen=True, kw_only=True):
    """What a person decides. `role` is None for the first role that the rule names; `until` None for no end."""

    vote: Vote
    reason: str = ""
    role: str | None = None
    until: datetime | None = None
    key: PrivateKey | None = None


class ApprovalQuestion(Struct, frozen=True, kw_only=True):
    """A question to people: may this skill be used under this rule?

    `place` is the approvals file beside the policy that asks. `text` is what a person is shown. `skill` is None if its
    files are not here, and `signer` is the signer of an installed skill. `asked_by` is the person who asked in the
    store of an organisation, and `deployed_by` are those who deployed the skill there: they count as authors.
    """

    skill: Skill | None
    name: str
    tree: str
    rule: ApprovalRule
    capabilities: tuple[str, ...] | None
    votes: Votes
    place: str
    is_machine: bool
    text: str
    signer: str | None = None
    asked_by: str | None = None
    deployed_by: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id, which refused calls name."""
        return request_id(self.tree, self.rule.name)

    @property
    def state(self) -> ApprovalState:
        """Whether the question waits, or how it was answered."""
        return self.votes.state(self.rule)


def questions_about(
    skill: Skill, policy: Policy, *, layer: str | None = None, signer: str | None = None
) -> tuple[ApprovalQuestion, ...]:
    """Return every question that the policy asks about a skill, the highest layer first; none without a digest."""
    tree = skill.digest
    if tree is None:
        return ()
    capabilities = file_facts(skill, policy.script_dirs, has_interpreter)["capabilities"]
    identity = SkillIdentity(name=skill.name, trees=(tree,), capabilities=capabilities)
    found = []
    for rule in asking_rules(policy):
        if rule.name != APPROVED_FACT and not rule.reasons(identity):
            continue
        place = _place_of(rule, policy)
        votes = votes_for(rule, statements_about(tree, policy.approvals, rule.origin.path))
        found.append(
            ApprovalQuestion(
                skill=skill,
                name=skill.name,
                tree=tree,
                rule=rule,
                capabilities=capabilities,
                votes=votes,
                place=place,
                is_machine=any(one.place == place and one.is_machine for one in policy.approvals),
                text=_shown(skill, rule, capabilities, layer=layer, signer=signer),
                signer=signer,
            )
        )
    return tuple(found)


def question_in_store(
    name: str,
    tree: str,
    rule: ApprovalRule,
    policy: Policy,
    *,
    capabilities: tuple[str, ...] | None,
    asked_by: str | None,
    reason: str,
    source: str | None = None,
) -> ApprovalQuestion:
    """Return the question of a rule about a skill whose files are not here; what the requester states is shown.

    `source` tells where the capabilities are from, by default that the requester states them.
    """
    known = "unknown" if capabilities is None else ", ".join(capabilities) or "none"
    source = source or (f"as stated by {asked_by}" if asked_by else None)
    rows = [
        ("skill", name),
        ("digest", tree),
        ("capabilities", f"{known} ({source})" if source else known),
        ("asked by", _demand(rule)),
        ("requested by", asked_by or "unknown"),
        ("reason", reason or "none"),
    ]
    votes = votes_for(rule, statements_about(tree, policy.approvals, rule.origin.path))
    return ApprovalQuestion(
        skill=None,
        name=name,
        tree=tree,
        rule=rule,
        capabilities=capabilities,
        votes=votes,
        place=_place_of(rule, policy),
        is_machine=False,
        text="\n".join(f"{label:13} {printable_line(text)}" for label, text in rows),
        asked_by=asked_by,
    )


def with_deployed_capabilities(
    question: ApprovalQuestion, policy: Policy, capabilities: tuple[str, ...], reason: str
) -> ApprovalQuestion:
    """Return a question of the store with the capabilities of the deployed files, in place of stated ones."""
    return question_in_store(
        question.name,
        question.tree,
        question.rule,
        policy,
        capabilities=capabilities,
        asked_by=question.asked_by,
        reason=reason,
        source="of the deployed files",
    )


def _place_of(rule: ApprovalRule, policy: Policy) -> str:
    """Return the place of the votes for a rule: the store of an organisation, or the file beside the policy."""
    if any(file.is_shared and file.path == rule.origin.path for file in policy.files):
        return next(one.place for one in policy.approvals if one.policy_files is None)
    return approvals_path(rule.origin.path)


def asking_rules(policy: Policy) -> Iterator[ApprovalRule]:
    """Yield the rules that ask for approvals, and one for each file that only matches `skill.approved`."""
    for file in policy.files:
        yield from file.approval_rules
        if file.has_approved and not file.approval_rules:
            line = next(one.origin.line for one in file.rules if any(m.argument == APPROVED_FACT for m in one.matches))
            yield ApprovalRule(words=(), id=APPROVED_FACT, origin=RuleOrigin(path=file.path, line=line))


def statement_of(question: ApprovalQuestion, ballot: Ballot, voter: Voter) -> VoteStatement:
    """Return the statement of a vote.

    Raises:
        VoteRefusedError: the vote would not count.
        PolicyDeniedError: the role may not answer this question.
    """
    rule, skill, key = question.rule, question.skill, ballot.key
    if ballot.role is not None and ballot.role not in rule.roles:
        wanted = " or ".join(rule.roles)
        raise PolicyDeniedError("roles", f"the role {ballot.role} may not answer; {rule.origin} asks for {wanted}")
    if key is not None:
        voter = replace(voter, key=key.public.fingerprint)
    why = None if skill is None else authorship(voter, skill, question.signer, by_owner=question.is_machine)
    why = why or _authorship_in_store(question, voter)
    voter = replace(voter, is_author=why is not None)
    statement = VoteStatement(
        vote=ballot.vote,
        skill=question.name,
        tree=question.tree,
        capabilities=question.capabilities,
        shown=sha256_of(question.text.encode()),
        rule=rule.name,
        role=ballot.role or rule.roles[0],
        until=ballot.until,
        voter=voter,
        reason=ballot.reason,
        at=datetime.now(UTC).replace(microsecond=0),
    )
    if ballot.vote != "revoke":
        _require_countable(question, statement, why)
    if key is None:
        return statement
    return replace(statement, signature=sign_vote(statement.signed_value, question.name, question.tree, key))


def _authorship_in_store(question: ApprovalQuestion, voter: Voter) -> str | None:
    if question.asked_by is not None and is_same_person(question.asked_by, voter.user):
        return "this person asked for the approval"
    deployed = any(is_same_person(one, voter.user) for one in question.deployed_by)
    return "this person deployed it" if deployed else None


def ballot_facts(question: ApprovalQuestion, ballot: Ballot, voter: Voter) -> dict[str, object]:
    """Return the facts of a vote for the audit log."""
    return {
        "request": question.id,
        "rule": str(question.rule.origin),
        "place": question.place,
        "skill": question.name,
        "digest": question.tree,
        "shown": sha256_of(question.text.encode()),
        "vote": ballot.vote,
        "by": voter.user,
        "role": ballot.role or question.rule.roles[0],
        "key": None if ballot.key is None else ballot.key.public.fingerprint,
        "until": None if ballot.until is None else ballot.until.isoformat(),
        "reason": printable_line(ballot.reason[:200]),
    }


def _require_countable(question: ApprovalQuestion, statement: VoteStatement, authorship_of: str | None) -> None:
    who, name = printable_line(statement.voter.user), printable_line(question.name)
    if statement.voter.kind != "person":
        raise VoteRefusedError(f"{who} is a service account, and only people approve skills; log in as a person")
    if authorship_of is not None and not question.rule.own:
        place = question.rule.origin
        raise VoteRefusedError(
            f"{who} is an author of {name!r} ({authorship_of}), and {place} wants the approval of others (own = false)"
        )
    if (refused := question.votes.refused) is not None:
        by = printable_line(refused.voter.user)
        raise VoteRefusedError(f"{by} has refused {name!r}; to ask again, run `prowess approvals revoke {question.id}`")
    if statement.vote == "approve" and any(is_same_voter(statement, other) for other in question.votes.given):
        raise VoteRefusedError(
            f"{who} has approved {name!r} already, and each person and key counts once; {_left(question)}"
        )


def _left(question: ApprovalQuestion) -> str:
    left = question.rule.count - len(question.votes.given)
    return "it is approved" if left <= 0 else f"it needs {left} more {'person' if left == 1 else 'people'}"


def recounted(question: ApprovalQuestion, statements: Sequence[VoteStatement], policy: Policy) -> ApprovalQuestion:
    """Return the question with the votes that count if the place of the question has these statements now."""
    path = question.rule.origin.path
    others = [one for one in policy.approvals if one.place != question.place]
    now = Approvals(place=question.place, statements=tuple(statements))
    return replace(question, votes=votes_for(question.rule, statements_about(question.tree, (*others, now), path)))


def _shown(
    skill: Skill, rule: ApprovalRule, capabilities: tuple[str, ...] | None, *, layer: str | None, signer: str | None
) -> str:
    """Return what a person is shown before the vote. Every text of the skill is on one line and escaped."""
    files = skill.manifest.files
    size = sum(file.size for file in files)
    rows = [
        ("skill", skill.name),
        ("digest", skill.digest or ""),
        ("description", str(skill.frontmatter.raw.get("description") or "")),
        ("location", skill.root_dir),
        ("layer", layer or "unknown"),
        ("signer", signer or "none"),
        ("capabilities", "unknown" if capabilities is None else ", ".join(capabilities) or "none"),
        ("allowed-tools", str(skill.frontmatter.raw.get("allowed-tools") or "not set")),
        ("asked by", _demand(rule)),
        ("files", f"{counted(len(files), 'file')}, {size} bytes"),
    ]
    lines = [f"{name:13} {printable_line(text)}" for name, text in rows]
    for file in files[:_MOST_FILES]:
        mark = " (executable)" if file.executable else ""
        lines.append(f"  {file.size:9} {printable_line(file.path)}{mark}")
    if len(files) > _MOST_FILES:
        lines.append(f"  and {counted(len(files) - _MOST_FILES, 'file')} more")
    return "\n".join(lines)


def _demand(rule: ApprovalRule) -> str:
    people = f"{rule.count} {'person' if rule.count == 1 else 'people'}"
    return f"{rule.origin}: {rule.name} ({people} with the role {' or '.join(rule.roles)})"
