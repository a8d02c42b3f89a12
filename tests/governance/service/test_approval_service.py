"""Approvals of an organisation: who may ask and vote, which votes count, and when a running session obeys."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import pytest
from msgspec.structs import replace
from sqlalchemy import delete

from prowess import Catalog, SyncSession
from prowess.errors import ConfigurationError, PolicyDeniedError
from prowess.format.reading import read_skill
from prowess.governance.approving import VoteRefusedError
from prowess.governance.service.approval_items import ApprovalQuery, NewApproval, NewVote
from prowess.governance.service.approvals import ApprovalService
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.governance.service.service_call import ServiceCall
from prowess.governance.shared_approval_requests import RefusedSkills
from prowess.governance.shared_call_requests import SharedCallRequests
from prowess.governance.store_approvals import StoreApprovals
from prowess.policy.approval import ApprovalRequest
from prowess.policy.approvals.statements import request_id
from prowess.store import SharedDatabase, SharedSessionStore, SharedVoteStore
from prowess.store.shared.tables import APPROVAL_REQUESTS
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sqlalchemy import Connection

    CallOf = Callable[..., ServiceCall]

T = TypeVar("T")
_DEMAND = 'default = "allow"\n[[approval]]\nfor = ["scripts"]\ncount = 2\n'
_TWO = f'{_DEMAND}roles = ["approver"]\nexpires = "90d"\nown = false\n'
_DIGEST = "sha256:" + 64 * "a"
_OTHER = "sha256:" + 64 * "b"
_APPROVE = NewVote(vote="approve", reason="reviewed")


def _asked(skill: str = "deploy", digest: str = _DIGEST, **more: Any) -> NewApproval:  # noqa: ANN401 -- fields
    return NewApproval(skill=skill, digest=digest, reason="for the release", **more)


@pytest.fixture
def two(call_of: CallOf) -> str:
    """Let a policy demand two approvals of scripts, and ask for one; return the id of the question."""
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO))
    return ApprovalService(call_of("eve", "author")).add(_asked(capabilities=("scripts",))).id


def _vote(call: ServiceCall, wanted: str, vote: NewVote = _APPROVE) -> Any:  # noqa: ANN401 -- an item
    return ApprovalService(call).vote(wanted, vote)


def test_after_the_last_vote_the_same_call_succeeds_and_a_revocation_holds_at_the_next_one(
    call_of: CallOf, database: SharedDatabase, tmp_path: Path, own_home: Path
) -> None:
    write_skill(tmp_path / "skills", "deploy", files={"scripts/a.sh": "printf done\n"})
    digest = str(read_skill(str(tmp_path / "skills" / "deploy")).digest)
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO))
    with SyncSession(Catalog(tmp_path / "skills"), store=SharedSessionStore(database)) as session:

        def detail() -> Any:  # noqa: ANN401 -- JSON
            return session.call("skills.load", {"names": ["deploy"]}).error_detail

        refused = detail()
        (noted,) = ApprovalService(call_of("ann", "approver")).list(ApprovalQuery()).items  # without a request
        assert (noted.id, noted.skill, noted.requested_by) == (refused["request"], "deploy", None)
        item = ApprovalService(call_of("eve", "author")).add(_asked(digest=digest))
        assert (refused["code"], refused["request"], item.id) == ("approval_required", item.id, item.id)
        assert (item.state, item.needed, item.given, item.requested_by) == ("waiting", 2, 0, "eve")
        assert _vote(call_of("ann", "approver"), item.id).given == 1
        assert detail()["given"] == 1
        assert _vote(call_of("bob", "approver"), item.id).state == "approved"
        assert detail() is None
        shown = ApprovalService(call_of("bob", "approver")).revoke(item.id, "a leak")
        assert (shown.state, shown.given) == ("waiting", 0)
        read = session.call("skills.read", {"skill": "deploy", "path": "SKILL.md"})
        assert (read.error_detail or {})["code"] == "approval_required"


@pytest.mark.parametrize("spelling", ["Ann", "ann ", "a\u200bnn", "ann\x00", "\uff41nn"])
def test_one_person_counts_once_in_every_spelling(spelling: str, two: str, call_of: CallOf) -> None:
    _vote(call_of("ann", "approver"), two)
    with pytest.raises(VoteRefusedError, match="each person and key counts once"):
        _vote(call_of(spelling, "approver"), two)
    with pytest.raises(VoteRefusedError, match="is an author"):
        _vote(call_of("EVE\u200b", "approver"), two)


def test_a_second_vote_the_authors_own_and_one_about_other_bytes_are_refused(two: str, call_of: CallOf) -> None:
    _vote(call_of("ann", "approver"), two)
    with pytest.raises(VoteRefusedError, match="ann has approved 'deploy' already"):
        _vote(call_of("ann", "approver"), two)
    with pytest.raises(VoteRefusedError, match="eve is an author of 'deploy'"):
        _vote(call_of("eve", "approver"), two)
    with pytest.raises(VoteRefusedError, match="has changed: you looked at"):
        _vote(call_of("bob", "approver"), two, replace(_APPROVE, digest=_OTHER))
    newer = ApprovalService(call_of("eve", "author")).add(_asked(digest=_OTHER, capabilities=("scripts",)))
    with pytest.raises(VoteRefusedError, match=f"has changed since: {newer.id} asks"):
        _vote(call_of("bob", "approver"), two)
    assert _vote(call_of("bob", "approver"), two, NewVote(vote="refuse", reason="old")).state == "refused"
    with pytest.raises(VoteRefusedError, match="bob has refused 'deploy'"):
        _vote(call_of("dan", "approver"), two, NewVote(vote="refuse"))
    votes = ApprovalService(call_of()).get(two).votes
    assert [(one.user, one.vote, one.counts) for one in votes] == [("ann", "approve", True), ("bob", "refuse", True)]


@pytest.mark.parametrize("role", ["viewer", "user", "author", "administrator", "machine"])
def test_only_a_role_that_the_rule_names_answers(role: str, two: str, call_of: CallOf) -> None:
    with pytest.raises(PolicyDeniedError, match=f"ann has the role {role}"):
        _vote(call_of("ann", role), two)
    assert ApprovalService(call_of()).get(two).given == 0


def test_a_person_has_a_limited_number_of_waiting_questions(
    two: str, call_of: CallOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.governance.shared_approval_requests.MOST_QUESTIONS", 1)
    eve, asked = ApprovalService(call_of("eve", "author")), _asked(digest=_OTHER, capabilities=("scripts",))
    with pytest.raises(VoteRefusedError, match="eve has 1 question without an answer; ask again when"):
        eve.add(asked)
    assert eve.add(_asked(capabilities=("scripts",))).id == two  # it is there already
    assert ApprovalService(call_of("dan", "author")).add(asked).state == "waiting"
    _vote(call_of("ann", "approver"), two, NewVote(vote="refuse"))
    assert eve.add(_asked("other", f"sha256:{'7' * 64}", capabilities=("scripts",))).state == "waiting"


def test_no_requester_of_several_may_approve(two: str, call_of: CallOf) -> None:
    asked = ApprovalService(call_of("ann", "approver")).add(_asked(capabilities=("scripts",)))
    assert (asked.id, asked.requested_by) == (two, "eve")
    for requester in ("ann", "eve"):
        with pytest.raises(VoteRefusedError, match="asked for the approval"):
            _vote(call_of(requester, "approver"), two)
    assert _vote(call_of("bob", "approver"), two).given == 1


@pytest.mark.parametrize("digest", [_DIGEST, _OTHER])  # a question that is there, and a new one
def test_all_who_ask_at_the_same_time_are_requesters(
    digest: str, two: str, call_of: CallOf, database: SharedDatabase
) -> None:
    users = [f"person-{number}" for number in range(6)]
    together = Barrier(len(users))

    class Asking(ServiceCall):
        """Writes when all others have read the question too."""

        @contextmanager
        def act(self, name: str, data: Mapping[str, object]) -> Iterator[None]:
            together.wait(timeout=20)
            with super().act(name, data):
                yield

    def ask(user: str) -> str:
        service = ApprovalService(Asking(call_of(user, "approver").actor, database))
        return service.add(_asked(digest=digest, capabilities=("scripts",))).id

    with ThreadPoolExecutor(len(users)) as threads:
        (wanted,) = set(threads.map(ask, users))
    assert (wanted == two) == (digest == _DIGEST)
    for user in users:
        with pytest.raises(VoteRefusedError, match=f"{user} (asked for the approval|is an author)"):
            _vote(call_of(user, "approver"), wanted)


def test_who_asks_in_another_process_while_voting_may_not_approve(call_of: CallOf, database: SharedDatabase) -> None:
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO))
    wanted = request_id(_DIGEST, "scripts")
    RefusedSkills(database).note(wanted, "deploy", _DIGEST)
    call, asks = call_of("ann", "approver"), [ApprovalService(call_of("ann", "approver"))]

    class Asked(SharedDatabase):
        """Lets the voter ask once, when the vote has read the question and begins to write."""

        def run(self, work: Callable[[Connection], T], *, write: bool = True) -> T:
            if write and asks:
                asks.pop().add(_asked(capabilities=("scripts",)))
            return super().run(work, write=write)

    call.database = Asked(database.url)
    with pytest.raises(VoteRefusedError, match="ann is an author of 'deploy'"):
        ApprovalService(call).vote(wanted, _APPROVE)
    call.database.close()


def test_a_machine_and_a_viewer_ask_for_nothing(call_of: CallOf) -> None:
    for role in ("machine", "viewer"):
        with pytest.raises(PolicyDeniedError, match="needs the role"):
            ApprovalService(call_of("eve", role)).add(_asked())


def test_faulty_questions_and_votes_are_refused(two: str, call_of: CallOf) -> None:
    service = ApprovalService(call_of("ann", "approver"))
    with pytest.raises(ConfigurationError, match="'script' is not known"):
        service.add(_asked(capabilities=("script",)))
    with pytest.raises(ConfigurationError, match="in the past"):
        service.vote(two, replace(_APPROVE, until=datetime.now(UTC) - timedelta(days=1)))
    with pytest.raises(ConfigurationError, match="belong to one tenant"):
        ApprovalService(call_of(tenant="*")).list(ApprovalQuery())
    for unknown in ("skill-0", "ask-0"):
        with pytest.raises(NoSuchItemError):
            service.vote(unknown, _APPROVE)
    with pytest.raises(VoteRefusedError, match="nothing to revoke"):
        service.revoke(two)


def test_each_rule_that_asks_has_a_question_and_the_first_that_waits_is_returned(call_of: CallOf) -> None:
    rules = '[[approval]]\nfor = ["new-skills"]\n[[approval]]\nfor = ["scripts"]\ncount = 2\n'
    PolicyService(call_of()).put("base", NewPolicy(toml=rules))
    service = ApprovalService(call_of("eve", "author"))
    first = service.add(_asked())
    assert (first.rule, service.add(_asked()).id) == ("new-skills", first.id)
    _vote(call_of("ann", "approver"), first.id)
    assert service.add(_asked()).rule == "scripts"  # the capabilities are not known, so each is possible
    assert service.add(_asked("other", _OTHER, capabilities=())).rule == "new-skills"
    states = [(one.skill, one.rule, one.state) for one in service.list(ApprovalQuery()).items]
    assert states == [
        ("deploy", "new-skills", "approved"),
        ("deploy", "scripts", "waiting"),
        ("other", "new-skills", "waiting"),
    ]
    page = service.list(ApprovalQuery(state="waiting", limit=1))
    assert [one.rule for one in service.list(ApprovalQuery(state="waiting", limit=1, cursor=page.next)).items] == [
        "new-skills"
    ]


def test_a_question_keeps_its_place_in_the_list_whoever_asks_it_later(
    call_of: CallOf, database: SharedDatabase
) -> None:
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO))
    ann, eve = ApprovalService(call_of("ann", "approver")), ApprovalService(call_of("eve", "author"))
    first = ann.add(_asked(to_vote=True))
    ann.vote(first.id, _APPROVE)
    second = eve.add(_asked("other", _OTHER))
    database.run(lambda db: db.execute(delete(APPROVAL_REQUESTS).where(APPROVAL_REQUESTS.c.id == second.id)))
    StoreApprovals(SharedVoteStore(database), "").add(
        lambda before: replace(before[0], tree=_OTHER, skill="other", at=before[0].at + timedelta(seconds=1))
    )
    page = ann.list(ApprovalQuery(limit=1))
    asked = [eve.add(_asked()), eve.add(_asked("other", _OTHER))]  # a question for a vote, and one of votes alone
    assert [one.requested_by for one in asked] == ["eve", "eve"]
    rest = ann.list(ApprovalQuery(limit=1, cursor=page.next))
    assert ([one.id for one in (*page.items, *rest.items)], rest.next) == ([first.id, second.id], None)
    assert page.items[0].at == asked[0].at


def test_questions_that_sessions_leave_are_limited_and_those_with_a_vote_stay(
    call_of: CallOf, database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.governance.shared_approval_requests.MOST_LEFT", 2)
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO))
    refused, ann = RefusedSkills(database), ApprovalService(call_of("ann", "approver"))
    digests = [f"sha256:{64 * str(number)}" for number in range(5)]
    wanted = [request_id(digest, "scripts") for digest in digests]
    refused.note(wanted[0], "skill-0", digests[0])
    ann.vote(wanted[0], _APPROVE)
    ApprovalService(call_of("eve", "author")).add(_asked("skill-1", digests[1]))
    for number in (1, 2, 3, 4):
        refused.note(wanted[number], f"skill-{number}", digests[number])
    assert [one.skill for one in ann.list(ApprovalQuery()).items] == ["skill-0", "skill-1", "skill-3", "skill-4"]


def test_questions_about_one_digest_are_found(two: str, call_of: CallOf) -> None:
    eve = ApprovalService(call_of("eve", "author"))
    other = eve.add(_asked("other", _OTHER))
    assert [one.id for one in eve.list(ApprovalQuery(digest=_OTHER)).items] == [other.id]
    assert eve.states([_DIGEST, "sha256:none"]) == {_DIGEST: "waiting"}


def test_a_call_that_is_sent_again_while_it_waits_keeps_its_place(database: SharedDatabase) -> None:
    requests = SharedCallRequests(database)
    for name in ("read", "write", "read"):
        anyio.run(requests.approve, ApprovalRequest(tool=name, arguments={}, reason="a rule asks"))
    assert [one.tool for one in requests.all()] == ["read", "write"]


def test_who_asks_only_to_vote_is_no_author_and_a_later_requester_is(call_of: CallOf) -> None:
    ann, asked = ApprovalService(call_of("ann", "approver")), _asked(capabilities=("file:write",), to_vote=True)
    with pytest.raises(VoteRefusedError, match="no policy of the organisation asks for an approval of 'deploy'"):
        ann.add(asked)
    PolicyService(call_of()).put("base", NewPolicy(toml=_TWO.replace("scripts", "file-write")))
    with pytest.raises(PolicyDeniedError):
        ApprovalService(call_of("eve", "author")).add(asked)
    item = ann.add(asked)
    assert (item.rule, item.requested_by, item.capabilities) == ("file-write", None, None)
    assert ann.vote(item.id, _APPROVE).given == 1
    ApprovalService(call_of("bob", "author")).add(_asked(capabilities=("file:read", "file:write")))
    assert ann.add(asked).requested_by == "bob"
    with pytest.raises(VoteRefusedError, match="bob is an author of 'deploy'"):
        _vote(call_of("bob", "approver"), item.id)
    with pytest.raises(ConfigurationError, match="'file read' is not known; write some of scripts"):
        ann.add(_asked(capabilities=("file read",)))


def test_without_a_rule_one_person_approves_for_rules_that_match_approved_skills(call_of: CallOf) -> None:
    item = ApprovalService(call_of("eve", "author")).add(_asked())
    assert (item.rule, item.needed) == ("skill.approved", 1)
    assert _vote(call_of("ann", "approver"), item.id).state == "approved"


def test_roles_of_a_policy_tighten_those_of_tokens(call_of: CallOf) -> None:
    roles = '[roles]\napprover = { users = ["ann"] }\n[[approval]]\nfor = ["new-skills"]\nroles = ["approver"]\n'
    PolicyService(call_of()).put("base", NewPolicy(toml=roles))
    item = ApprovalService(call_of("eve", "author")).add(_asked())
    with pytest.raises(PolicyDeniedError, match="bob has the role user"):
        _vote(call_of("bob", "approver"), item.id)
    assert _vote(call_of("ann", "approver"), item.id).state == "approved"


def test_what_a_requester_states_is_shown_on_one_line_and_as_stated(two: str, call_of: CallOf) -> None:
    hostile = ApprovalService(call_of("eve", "author")).add(_asked("a\x1b[2J\nb", _OTHER, capabilities=("scripts",)))
    text = str(ApprovalService(call_of()).get(hostile.id).text)
    assert ("\x1b" in text, len(text.splitlines())) == (False, 6)
    assert "scripts (as stated by eve)" in str(ApprovalService(call_of()).get(two).text)


def test_a_call_that_waits_in_one_process_is_answered_in_another(
    call_of: CallOf, database: SharedDatabase, tmp_path: Path, own_home: Path
) -> None:
    write_skill(tmp_path / "skills", "deploy", files={"references/a.md": "text\n"})
    ask = 'default = "allow"\n[[rule]]\neffect = "ask"\ntool = "skills.read"\n'
    PolicyService(call_of()).put("base", NewPolicy(toml=ask))
    options: Any = {"store": SharedSessionStore(database), "approver": SharedCallRequests(database)}
    with SyncSession(Catalog(tmp_path / "skills"), session_id="one", **options) as session:
        session.load("deploy")

        def read() -> str | None:
            detail: Any = session.call("skills.read", {"skill": "deploy", "path": "references/a.md"}).error_detail
            return None if detail is None else detail["code"]

        assert read() == "approval_required"
        service = ApprovalService(call_of("ann", "approver"))
        (item,) = service.list(ApprovalQuery(kind="call")).items
        shown: Any = service.get(item.id).arguments
        assert (item.tool, item.arguments, shown["path"]) == ("skills.read", None, "references/a.md")
        for role in ("viewer", "user", "author"):
            assert ApprovalService(call_of("vic", role)).get(item.id).arguments is None
        with pytest.raises(PolicyDeniedError):
            _vote(call_of("eve", "author"), item.id)
        assert service.vote(item.id, _APPROVE).state == "approved"
        assert (read(), read()) == (None, "approval_required")  # it was for one call
        assert service.vote(item.id, NewVote(vote="refuse", reason="no")).refused_by == "ann"
        assert service.revoke(item.id).state == "waiting"
        assert read() == "approval_required"
