"""A recorded run as a case of a skill: an eval of the guide, or a case of `evals/tests.yaml`.

Texts of the run are foreign data: secrets are replaced, and long ones are cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from prowess._internal.text.secret_patterns import redacted
from prowess.errors import InvalidArgumentsError
from prowess.evals.transcripts.transcript import MAIN_AGENT, SkillUse, TranscriptMessage
from prowess.evals.verdicts.skill_names import same_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prowess.evals.transcripts.transcript import RunTranscript, TranscriptCall

_MOST_TEXT = 20_000  # characters
_GLOB_SIGNS = frozenset("*?[]{}\\!")
_LOAD = "skills_load"


def guide_of_run(run: RunTranscript, skill: str, query: str | None) -> dict[str, Any]:
    """Return `evals.json` with one eval: the request of the person, and the answer as the expected output.

    `query` is the request, if the transcript has none, as streams of some hosts.

    Raises:
        InvalidArgumentsError: the run has no request of a person.
    """
    return {
        "skill_name": skill,
        "evals": [{"id": 1, "prompt": _request(run, query), "expected_output": _text(run.answer)}],
    }


def tests_of_run(run: RunTranscript, skill: str, query: str | None) -> dict[str, Any]:
    """Return `tests.yaml` with one case: the turns of the run, and the results of its tools as responses.

    A call that loads a skill is one of a real session. Sub-agents are left out. `query` is as in `guide_of_run`.

    Raises:
        InvalidArgumentsError: the run has no request of a person.
    """
    calls = [call for call in run.calls if call.agent == MAIN_AGENT]
    doubled = [call for call in calls if _loaded(call) is None]
    counts = Counter(call.name for call in doubled if not call.failed)
    expect: list[dict[str, Any]] = [{"called": name, "times": times} for name, times in counts.items()]
    if any(same_skill(_loaded(call) or "", skill) for call in calls):
        expect.append({"activated": skill})
    case: dict[str, Any] = {"case": "recorded run", "input": _request(run, query), "turns": list(_turns(run, skill))}
    if doubled:
        case["responses"] = [_response(call) for call in doubled]
    if expect:
        case["expect"] = expect
    return {"cases": [case]}


def _request(run: RunTranscript, query: str | None) -> str:
    if query is not None:
        return _text(query)
    for message in run.messages:
        if message.role == "user" and message.agent == MAIN_AGENT and message.text.strip():
            return _text(message.text)
    raise InvalidArgumentsError(("the transcript has no request of a person; name it with --query",))


def _turns(run: RunTranscript, skill: str) -> Iterator[dict[str, Any]]:
    """Yield one turn for each message of the model: its text, and the calls of the same record or the next ones."""
    both: tuple[TranscriptMessage | TranscriptCall, ...] = (*run.messages, *run.calls)
    records = sorted((one for one in both if one.agent == MAIN_AGENT), key=lambda one: one.at)
    text, at = "", -1
    calls: list[dict[str, Any]] = []
    for record in records:
        if isinstance(record, TranscriptMessage):
            if record.role != "assistant" or not record.text.strip():
                continue
            if calls:
                yield _turn(text, calls)
                text, calls = "", []
            text = f"{text}\n{record.text}" if text else record.text
        else:
            if calls and record.at != at:
                yield _turn(text, calls)
                text, calls = "", []
            calls.append(_call(record, skill))
            at = record.at
    if calls:
        yield _turn(text, calls)
        text = ""
    yield {"text": _text(text) or "The run ended here."}


def _turn(text: str, calls: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {**({"text": _text(text)} if text else {}), "calls": list(calls)}


def _call(call: TranscriptCall, skill: str) -> dict[str, Any]:
    loaded = _loaded(call)
    if loaded is not None:
        return {"name": _LOAD, "arguments": {"names": [skill if same_skill(loaded, skill) else _text(loaded)]}}
    return {"name": call.name, "arguments": _clean(dict(call.arguments))}


def _loaded(call: TranscriptCall) -> str | None:
    """Return the skill that a call of the host's skill tool loads, None for any other call."""
    return next((action.skill for action in call.actions if isinstance(action, SkillUse)), None)


def _response(call: TranscriptCall) -> dict[str, Any]:
    """Return the response to calls with the same texts as arguments; one that a glob would change is left out."""
    arguments: Mapping[str, Any] = _clean(dict(call.arguments))
    match = {
        name: value for name, value in arguments.items() if isinstance(value, str) and not _GLOB_SIGNS & set(value)
    }
    answer = (
        {"error": _text(call.result or "it failed")} if call.failed else {"result": {"text": _text(call.result or "")}}
    )
    return {"tool": call.name, **({"match": match} if match else {}), **answer}


def _clean(value: Any) -> Any:  # noqa: ANN401 -- JSON
    if isinstance(value, dict):
        return {_text(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return redacted(text[:_MOST_TEXT].strip())
