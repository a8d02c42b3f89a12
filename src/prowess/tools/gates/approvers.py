"""Who is asked where a policy says `ask`: a person at the terminal, the host's own code, or nobody."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, TextIO

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.policy.approval import Approval, Refusal, Unanswered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from prowess.policy.approval import Answer, ApprovalRequest

_MOST_CHARACTERS = 4000  # of the arguments, on a terminal
_NO_TERMINAL = "Nobody sits at a terminal to be asked: run it in one, or allow the call in a policy file."
_QUESTION = "Run it? [y]es once, yes for this [s]ession, [N]o: "


class NoApprover:
    """Asks nobody: the call is refused with `approval_required` and waits for somebody to approve its request."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return that nobody was asked."""
        del request
        return Unanswered()


class CallbackApprover:
    """Asks the host: `ask` gets the request and returns the answer, at once or awaited.

    An answer that does not say who gave it was given by `callback`.
    """

    def __init__(self, ask: Callable[[ApprovalRequest], Answer | Awaitable[Answer]]) -> None:
        self._ask = ask

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return what the host answered; TypeError where that is no answer."""
        answer = self._ask(request)
        if not isinstance(answer, Approval | Refusal | Unanswered):
            answer = await answer
        if not isinstance(answer, Approval | Refusal | Unanswered):
            message = f"an approver must return an Approval, a Refusal or Unanswered, not {type(answer).__name__}"
            raise TypeError(message)
        return answer if isinstance(answer, Unanswered) or answer.by is not None else replace(answer, by="callback")


class TerminalApprover:
    """Asks the person at the terminal, one question at a time.

    `source` and `screen` default to standard input and standard error. Where one of them is no terminal nobody is
    asked. Everything shown is escaped: arguments can neither move the cursor nor draw a question of their own. Answers
    are given by `terminal:` and the name of this process's user.
    """

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source, self._screen = source or sys.stdin, screen or sys.stderr
        self._one_at_a_time = anyio.Lock()

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Show the call and wait for an answer; the end of input, and anything that is not yes, is no."""
        if not (self._source.isatty() and self._screen.isatty()):
            return Unanswered(instead=_NO_TERMINAL)
        async with self._one_at_a_time:
            # A person may never answer, and a cancelled call must not wait for that.
            return await to_thread.run_sync(self._ask, request, abandon_on_cancel=True)

    def _ask(self, request: ApprovalRequest) -> Answer:
        self._screen.write(f"{question(request)}\n{_QUESTION}")
        self._screen.flush()
        match self._source.readline().strip().lower():
            case "y" | "yes":
                return Approval(scope="once", by=_person())
            case "s" | "session":
                return Approval(scope="session", by=_person())
            case _:
                return Refusal(by=_person())


def _person() -> str:
    """Return who sits at the terminal, as the system knows it; what the environment says could be anybody."""
    if sys.platform == "win32":
        return f"terminal:{os.getlogin()}"
    # Imported here, not at the top: no other system has it.
    import pwd

    try:
        return f"terminal:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a user without an entry, as in a container
        return f"terminal:{os.getuid()}"


def question(request: ApprovalRequest) -> str:
    """Return what a person is shown: tool, reason and arguments, escaped, long ones shortened."""
    lines = [f"Tool {printable_line(request.tool)} asks to run: {printable_line(request.reason)}"]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        left = len(text) - _MOST_CHARACTERS
        text = text if left <= 0 else f"{text[:_MOST_CHARACTERS]}… and {left} characters more"
        # Each line of a value is set in, so that none can pass for the question.
        shown = "\n".join(f"    {line}" for line in printable(text).split("\n"))
        lines.append(f"  {printable_line(name)}:\n{shown}")
    return "\n".join(lines)
