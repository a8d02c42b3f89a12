"""Run a command on the conformance cases, several at a time, and collect its answers.

The command is a list of words, not a shell command line. A tool that hangs, prints too much, crashes or leaves
processes behind is stopped at its limits. If the first few cases get no answer, the remaining cases are skipped.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.conformance import watcher
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.conformance.cases import Case


SECONDS = 10.0
MOST_BYTES = 8 << 20
PLACES = ("{path}", "{file}", "{directory}")
GIVEN_UP_AFTER = 5
_GRACE_SECONDS = 15.0  # seconds after the time limit of a case, for the watcher to kill the tool
_UNEXPLAINED = "the watcher process was killed"

Said = Literal["accept", "reject", "none", "skipped"]


class Question(Struct, frozen=True, kw_only=True):
    """The command to run and the meaning of its exit codes.

    `argv` are the words of the command. `{path}` in a word is the skill's directory, `{file}` its SKILL.md,
    `{directory}` the folder of the case. The exit codes in `accepts` mean accept. The exit codes in `rejects` mean
    reject; if `rejects` is empty, every exit code outside `accepts` means reject. `seconds` and `most_bytes` limit one
    case. The tool runs in the working directory and with the environment of this process.
    """

    argv: tuple[str, ...]
    accepts: frozenset[int] = frozenset({0})
    rejects: frozenset[int] = frozenset()
    seconds: float = SECONDS
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        if not any(place in word for word in self.argv for place in PLACES):
            raise InvalidArgumentsError(
                (f"the command has no placeholder for the skill: write {' or '.join(PLACES)} in place of its path",)
            )
        if self.accepts & self.rejects:
            raise InvalidArgumentsError(("an exit code cannot mean both accept and reject",))

    def words(self, *, skill: str, folder: str) -> list[str]:
        """Return the words of the command for one case."""
        places = {"{path}": skill, "{file}": os.path.join(skill, "SKILL.md"), "{directory}": folder}
        # One pass from left to right, so that placeholders in a path are not replaced.
        return [re.sub(r"{path}|{file}|{directory}", lambda found: places[found[0]], word) for word in self.argv]


class Answer(Struct, frozen=True, kw_only=True):
    """The tool's answer to one case.

    `said` is `none` if the tool gave no answer, and `skipped` if the tool was not run; `why` is the reason. `status` is
    the exit code. `output` is the start of the printed text (untrusted, at most 4096 bytes), `seconds` the wall time.
    """

    case: Case
    said: Said
    why: str = ""
    status: int | None = None
    output: str = ""
    seconds: float = 0.0


def ask(
    question: Question,
    cases: Sequence[Case],
    *,
    jobs: int = 1,
    told: Callable[[Answer], None] = lambda _: None,
) -> list[Answer]:
    """Run the tool on every case, `jobs` at a time. Return the answers in the order of the cases.

    `told` is called with each answer, from several threads but never concurrently.

    Raises:
        OSError: there is no writable temporary directory.
    """
    with tempfile.TemporaryDirectory(prefix="prowess-conformance-", ignore_cleanup_errors=True) as place:
        round_ = _Round(question, os.path.realpath(place), told)
        with ThreadPoolExecutor(max(1, min(jobs, len(cases)))) as executor:
            try:
                return list(executor.map(round_.answer, range(len(cases)), cases))
            except BaseException:  # error or interrupt: stop running tools first
                round_.stop()
                executor.shutdown(cancel_futures=True)
                raise
            finally:
                round_.close()


class _Round:
    """One run over the cases, shared by its threads. Each thread has its own watcher."""

    def __init__(self, question: Question, place: str, told: Callable[[Answer], None]) -> None:
        self._question, self._place, self._told = question, place, told
        self._lock = threading.Lock()
        self._own = threading.local()
        self._watchers: list[_Watcher] = []
        self._stopped = self._spoke = False
        self._silent = 0

    def answer(self, number: int, case: Case) -> Answer:
        """Run the tool on one case. Skip it if the tool has answered none of the first few cases."""
        if not self._spoke and self._silent >= GIVEN_UP_AFTER:
            answer = Answer(case=case, said="skipped", why="the tool gave no answer to the first cases")
        else:
            answer = self._asked(number, case)
        with self._lock:
            self._spoke = self._spoke or answer.said in {"accept", "reject"}
            self._silent += answer.said == "none"
            self._told(answer)
        return answer

    def stop(self) -> None:
        """Stop running tools, and start no more."""
        with self._lock:
            self._stopped = True
            for watched in self._watchers:
                watched.end()

    def close(self) -> None:
        """Wait until all watchers have ended."""
        for watched in self._watchers:
            watched.close()

    def _asked(self, number: int, case: Case) -> Answer:
        folder = os.path.join(self._place, str(number))
        try:
            skill = case.lay_out(folder)
        except OSError as fault:
            return Answer(case=case, said="skipped", why=f"this file system cannot store the case: {fault.strerror}")
        words = self._question.words(skill=skill, folder=folder)
        return _judged(
            case, self._question, self._watcher().ask(words, self._question.seconds, self._question.most_bytes)
        )

    def _watcher(self) -> _Watcher:
        watched: _Watcher | None = getattr(self._own, "watcher", None)
        if watched is not None and not watched.alive:
            watched.close()
        if watched is None or not watched.alive:
            with self._lock:
                watched = self._own.watcher = _Watcher()
                self._watchers.append(watched)
                if self._stopped:
                    watched.end()
        return watched


def _judged(case: Case, question: Question, report: dict[str, object]) -> Answer:
    ended, status = str(report["ended"]), int(str(report["status"]))
    output = base64.b64decode(str(report["output"])).decode("utf-8", "replace")
    seconds = float(str(report["seconds"]))
    silent = {
        "signal": f"ended by signal {status}",
        "timeout": f"no answer within {question.seconds:g} s",
        "output": f"printed more than {question.most_bytes} bytes",
        "start": f"could not be started: {output}",
        "watcher": _UNEXPLAINED,
    }.get(ended)
    if silent is None and status not in question.accepts and question.rejects and status not in question.rejects:
        silent = f"exit code {status} means neither"
    if silent is not None:
        said = None if ended != "exit" else status
        return Answer(case=case, said="none", why=silent, status=said, output=output, seconds=seconds)
    outcome: Said = "accept" if status in question.accepts else "reject"
    return Answer(case=case, said=outcome, status=status, output=output, seconds=seconds)


class _Watcher:
    """A child process that runs the tool, one case at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", watcher.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C must reach only us, because we then stop the watchers in order
        )
        self.alive = True

    def ask(self, argv: list[str], seconds: float, most_bytes: int) -> dict[str, object]:
        """Return the watcher's report. If the watcher itself was killed, `ended` is `watcher`."""
        assert self._process.stdin is not None  # noqa: S101 -- both are pipes
        assert self._process.stdout is not None  # noqa: S101 -- both are pipes
        question = {"argv": argv, "seconds": seconds, "most_bytes": most_bytes}
        overdue = threading.Timer(seconds + _GRACE_SECONDS, self._process.kill)
        overdue.start()
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            report: dict[str, object] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            self.alive = False
            return {"ended": "watcher", "status": 0, "output": "", "seconds": 0.0}
        finally:
            overdue.cancel()
        return report

    def end(self) -> None:
        """Tell the watcher to stop the tool. Safe to call from another thread during `ask`."""
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None  # noqa: S101 -- it is a pipe
            self._process.stdin.close()

    def close(self) -> None:
        """Stop the watcher and wait for it."""
        self.end()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


Verdict = Literal["agrees", "accepts wrongly", "rejects wrongly", "no answer", "skipped"]


class Agreement(Struct, frozen=True, kw_only=True):
    """The number of cases by verdict, for one profile. `skipped` cases count neither for nor against the tool."""

    cases: int = 0
    agrees: int = 0
    accepts_wrongly: int = 0
    rejects_wrongly: int = 0
    no_answer: int = 0
    skipped: int = 0

    @property
    def whole(self) -> bool:
        """Whether every case was asked and every answer agrees."""
        return self.agrees == self.cases


def verdict(answer: Answer, profile: str) -> Verdict:
    """Compare one answer with the expectation of the profile."""
    if answer.said == "skipped":
        return "skipped"
    if answer.said == "none":
        return "no answer"
    if answer.said == answer.case.expect[profile].outcome:
        return "agrees"
    return "accepts wrongly" if answer.said == "accept" else "rejects wrongly"


def agreement(answers: Sequence[Answer], profile: str) -> Agreement:
    """Count the verdicts for all answers."""
    return Agreement(cases=len(answers), **Counter(verdict(answer, profile).replace(" ", "_") for answer in answers))


def by_topic(answers: Sequence[Answer], profile: str) -> dict[str, Agreement]:
    """Count the verdicts of each topic, in the order of the cases."""
    topics = dict.fromkeys(answer.case.topic for answer in answers)
    return {topic: agreement([one for one in answers if one.case.topic == topic], profile) for topic in topics}
