"""Who is asked, what they see, and that nobody is asked where nobody is there."""

from __future__ import annotations

import io
import os
import pwd
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.policy.approval import Approval, ApprovalRequest, Refusal, Unanswered
from prowess.tools.gates import ApproverError, CallbackApprover, NoApprover, TerminalApprover

if TYPE_CHECKING:
    from prowess.policy.approval import Answer

pytestmark = pytest.mark.anyio

PERSON = f"terminal:{pwd.getpwuid(os.getuid()).pw_name}"
REQUEST = ApprovalRequest(tool="Bash", arguments={"command": "make all", "timeout": 3}, reason="Bash changes things")


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", Approval(scope="once", by=PERSON)),
        ("YES\n", Approval(scope="once", by=PERSON)),
        (" s \n", Approval(scope="session", by=PERSON)),
        ("session\n", Approval(scope="session", by=PERSON)),
        ("n\n", Refusal(by=PERSON)),
        ("\n", Refusal(by=PERSON)),
        ("yess\n", Refusal(by=PERSON)),
        ("", Refusal(by=PERSON)),
    ],
    ids=repr,
)
async def test_a_person_answers_and_what_is_not_yes_is_no(typed: str, answer: Answer) -> None:
    screen = Terminal()
    assert await TerminalApprover(Terminal(typed), screen).approve(REQUEST) == answer
    assert screen.getvalue() == (
        "Tool Bash asks to run: Bash changes things\n"
        "  command:\n    make all\n"
        "  timeout:\n    3\n"
        "Run it? [y]es once, yes for this [s]ession, [N]o: "
    )


async def test_arguments_can_draw_nothing_on_the_terminal() -> None:
    screen = Terminal()
    hostile = "\x1b[2Jmake\nRun it? [y]es \u202eon"
    request = ApprovalRequest(tool="a\nb", arguments={"x\ny": hostile, "long": "z" * 5000}, reason="r\x07")
    await TerminalApprover(Terminal("n\n"), screen).approve(request)
    shown = screen.getvalue()
    assert not set("\x1b\x07\u202e") & set(shown)
    assert [line for line in shown.splitlines() if line.startswith("Run it?")] == [shown.splitlines()[-1]]
    assert "and 1000 characters more" in shown


@pytest.mark.parametrize(("source", "screen"), [(io.StringIO("y\n"), Terminal()), (Terminal("y\n"), io.StringIO())])
async def test_without_a_terminal_nobody_is_asked(source: io.StringIO, screen: io.StringIO) -> None:
    answer = await TerminalApprover(source, screen).approve(REQUEST)
    assert isinstance(answer, Unanswered)
    assert answer.instead is not None  # there is no method to approve it by, so another way is named
    assert "policy file" in answer.instead
    assert source.tell() == 0
    assert screen.getvalue() == ""


async def test_two_questions_do_not_mix_on_one_terminal() -> None:
    screen = Terminal()
    approver = TerminalApprover(Terminal("y\nn\n"), screen)
    async with anyio.create_task_group() as group:
        group.start_soon(approver.approve, REQUEST)
        group.start_soon(approver.approve, REQUEST)
    first, _, rest = screen.getvalue().partition("[N]o: ")
    assert first.count("asks to run") == 1
    assert rest.startswith("Tool Bash")


async def test_nobody_answers_nothing() -> None:
    assert await NoApprover().approve(REQUEST) == Unanswered()


async def test_a_host_answers_at_once_or_later() -> None:
    async def later(request: ApprovalRequest) -> Answer:
        assert request is REQUEST
        return Refusal(reason="not today")

    assert await CallbackApprover(lambda _: Approval()).approve(REQUEST) == Approval(by="callback")
    assert await CallbackApprover(later).approve(REQUEST) == Refusal(reason="not today", by="callback")


async def test_what_is_no_answer_is_an_error() -> None:
    async def forgets(_: ApprovalRequest) -> None:
        return None

    with pytest.raises(ApproverError, match=r"forgets of this host returned None, which is not an Approval"):
        await CallbackApprover(forgets).approve(REQUEST)


async def test_true_and_false_are_answers() -> None:
    assert await CallbackApprover(lambda _: True).approve(REQUEST) == Approval(by="callback")
    assert await CallbackApprover(lambda _: False).approve(REQUEST) == Refusal(by="callback")
