"""The transcripts of `prowess agent --transcript`: one message a line, and a last line with `"role": "end"`."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from prowess.agent.model import Ending
from prowess.evals.transcripts.assembly import Assembly, dollars_of, mapping, rows, text
from prowess.evals.transcripts.transcript import MAIN_AGENT

if TYPE_CHECKING:
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import RunEnd, TranscriptForm

_ENDS: dict[str, RunEnd] = {
    **dict.fromkeys(get_args(Ending), "error"),
    **dict.fromkeys(("turn_limit", "token_budget", "cost_budget", "time_budget"), "limit"),
    **dict.fromkeys(("answered", "empty_answer"), "completed"),
    "interrupted": "cut",
}
_REFUSED = frozenset({"policy_denied", "tool_not_allowed", "approval_required"})


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of ours, else None."""
    match record.get("role"):
        case "user":
            return "session" if type(record.get("text")) is str else None
        case "assistant":
            return "session" if "calls" in record and "text" in record else None
        case "tool":
            return "session" if "success" in record and "duration_ms" in record else None
        case "end":
            return "session" if "ended" in record else None
    return None


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a transcript."""
    run = Assembly(host="prowess", form=form)
    for at, record in records.items:
        match record.get("role"):
            case "user":
                run.say("user", text(record.get("text")), MAIN_AGENT, at)
            case "assistant":
                run.say("assistant", text(record.get("text")), MAIN_AGENT, at)
                for call in rows(record.get("calls")):
                    run.call(call.get("id"), call.get("name"), call.get("arguments"), MAIN_AGENT, at)
            case "tool":
                _result(run, record)
            case "end":
                _end(run, record, at)
            case role:
                run.skip(role)
    return run


def _result(run: Assembly, record: HostRecord) -> None:
    call = run.find(record.get("id"), MAIN_AGENT)
    if call is None:
        return
    detail, result = mapping(record.get("error_detail")), mapping(record.get("result"))
    # A command that ends with a status other than 0 is a result, not an error.
    status = result.get("return_code", result.get("exit_code", 0))
    call.failed = record.get("success") is not True or status not in (0, None)
    call.result = text(record.get("error")) or text(result.get("stdout")) or text(result.get("text")) or str(result)
    call.refused = text(detail.get("code")) in _REFUSED
    call.unknown_skill = detail.get("code") == "skill_not_found"


def _end(run: Assembly, record: HostRecord, at: int) -> None:
    ended = text(record.get("ended"))
    run.end(_ENDS.get(ended, "error"), text(record.get("reason")) or ended, at)
    run.session = text(record.get("session_id")) or None
    if usage := mapping(record.get("usage")):
        run.spend(usage.get("input_tokens"), usage.get("output_tokens"))
        run.cost_usd = dollars_of(usage.get("cost_usd"))
