"""One question for the same bytes: ids, memory, and what becomes of answers."""

from __future__ import annotations

import pytest

from prowess.policy.approval import Approval, ApprovalMemory, ApprovalRequest, Refusal


def _request(**changes: object) -> ApprovalRequest:
    facts: dict[str, object] = {
        "tool": "Bash",
        "arguments": {"command": "make", "timeout": 3},
        "reason": "Bash changes things",
        "skills": ("sha256:1", "sha256:2"),
        "session_id": "s",
    }
    return ApprovalRequest(**{**facts, **changes})  # type: ignore[arg-type]  # the facts are of the right types


def test_the_same_bytes_have_the_same_id() -> None:
    request = _request()
    assert request.id == _request(arguments={"timeout": 3, "command": "make"}, reason="another").id
    assert request.id == _request(tool="bash_exec", skills=("sha256:2", "sha256:1")).id
    assert request.id.startswith("ask-")
    assert len(request.id) == len("ask-") + 32


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "Read"},
        {"arguments": {"command": "make "}},
        {"skills": ("sha256:1",)},
        {"skills": ("sha256:1", "sha256:3")},
        {"session_id": "t"},
        {"session_id": None},
    ],
    ids=str,
)
def test_anything_else_is_another_request(changes: dict[str, object]) -> None:
    assert _request(**changes).id != _request().id


def test_an_answer_for_the_session_is_remembered_and_so_is_a_refusal() -> None:
    memory = ApprovalMemory()
    assert memory.ask(_request()) is None
    memory.answered(_request(), Approval(scope="session"))
    assert memory.ask(_request()) == memory.ask(_request()) == Approval(scope="session")
    memory.answered(_request(tool="Write"), Refusal())
    assert memory.ask(_request(tool="Write")) == memory.ask(_request(tool="Write")) == Refusal()


def test_an_answer_for_one_call_is_used_up_by_it() -> None:
    memory = ApprovalMemory()
    memory.answered(_request(), Approval(scope="once"))  # the call that asked goes on with it
    assert memory.ask(_request()) is None
    memory.unanswered(_request())
    assert memory.settle(_request().id, Approval(scope="once")) == _request()
    assert memory.ask(_request()) == Approval(scope="once")
    assert memory.waiting == (), "the call that it was for has run; no request is left to answer"
    assert memory.ask(_request()) is None


def test_a_revocable_answer_is_asked_for_again_and_forks_inherit_a_revocable_refusal() -> None:
    memory = ApprovalMemory()
    memory.answered(_request(), Approval(scope="session", revocable=True))
    assert memory.ask(_request()) is None
    memory.answered(_request(), Refusal(revocable=True))
    assert memory.ask(_request()) is None
    assert list(memory.refusals()) == [_request().call_digest]
    memory.unanswered(_request())  # the refusal was revoked
    assert memory.refusals() == {}


def test_only_a_request_that_was_made_can_be_settled() -> None:
    memory = ApprovalMemory()
    assert memory.settle(_request().id, Approval(scope="session")) is None
    assert memory.ask(_request()) is None


def test_a_person_may_change_their_mind() -> None:
    memory = ApprovalMemory()
    memory.unanswered(_request())
    memory.settle(_request().id, Refusal())
    assert memory.ask(_request()) == Refusal()
    memory.settle(_request().id, Approval(scope="session"))
    assert memory.ask(_request()) == Approval(scope="session")


def test_what_waits_is_listed_until_it_is_answered_and_is_bounded() -> None:
    memory = ApprovalMemory()
    memory.unanswered(_request(tool="a"))
    memory.unanswered(_request(tool="b"))
    memory.unanswered(_request(tool="a"))
    assert [request.tool for request in memory.waiting] == ["b", "a"]
    memory.settle(_request(tool="b").id, Approval())
    assert [request.tool for request in memory.waiting] == ["a"]
    for number in range(300):
        memory.unanswered(_request(tool=f"t{number}"))
    assert len(memory.waiting) == 256
    assert memory.settle(_request(tool="a").id, Approval()) is None
