"""The results of a run of evals as logs of Inspect (inspect_ai), one for each configuration.

The form is JSON, version 2, as `inspect view` and `inspect log` read it. A run is a sample, its number the epoch.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from math import sqrt
from typing import TYPE_CHECKING, Any

from prowess.evals.transcripts.transcript import TranscriptMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.evals.campaigns.report import EvalRunReport, UnitResult
    from prowess.evals.transcripts.transcript import RunTranscript, TranscriptCall

_SCORER = "assertions"
_ROLES = {"user": "user", "assistant": "assistant", "host": "system"}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9.-]+")


def inspect_log_files(
    report: EvalRunReport, transcripts: Mapping[str, RunTranscript], *, created: float
) -> dict[str, bytes]:
    """Return the logs by file name. `created` is the time of the run, in seconds since 1970."""
    found: dict[str, bytes] = {}
    moment = datetime.fromtimestamp(created, UTC)
    for configuration in dict.fromkeys(unit.configuration for unit in report.units):
        units = [unit for unit in report.units if unit.configuration == configuration and unit.outcome != "not_run"]
        task = _NOT_IN_NAMES.sub("-", f"{report.skill}-{configuration}")[:100]
        ident = hashlib.sha256(f"{report.iteration}\0{created}\0{configuration}".encode("utf-8", "replace")).hexdigest()
        name = f"{moment:%Y-%m-%dT%H-%M-%S+00-00}_{task}_{ident[:22]}.json"
        log = _log(
            report, units, transcripts, task=task, ident=ident[:22], created=moment.isoformat(timespec="seconds")
        )
        found[name] = json.dumps(log).encode()
    return found


def _log(
    report: EvalRunReport,
    units: Sequence[UnitResult],
    transcripts: Mapping[str, RunTranscript],
    *,
    task: str,
    ident: str,
    created: str,
) -> dict[str, Any]:
    evals = list(dict.fromkeys(unit.eval for unit in units))
    model = report.model or report.host
    spec = {
        "eval_id": ident,
        "run_id": ident,
        "task_id": ident,
        "task": task,
        "created": created,
        "model": model,
        "dataset": {"name": report.skill, "samples": len(evals), "sample_ids": evals},
        "config": {"epochs": max((unit.run for unit in units), default=1)},
        "metadata": {"host": report.host, "seed": report.seed, "made_by": "prowess eval export"},
    }
    usage = {"input_tokens": report.spent.input_tokens, "output_tokens": report.spent.output_tokens}
    return {
        "version": 2,
        "status": "success" if report.complete else "cancelled",
        "eval": spec,
        "plan": {"name": "plan", "steps": [], "finish": None, "config": {}},
        "results": _results(units),
        "stats": {
            "started_at": created,
            "completed_at": created,
            "model_usage": {model: {**usage, "total_tokens": sum(usage.values())}},
        },
        "samples": [_sample(unit, transcripts.get(unit.id), model) for unit in units],
    }


def _results(units: Sequence[UnitResult]) -> dict[str, Any]:
    counted = [unit.outcome == "passed" for unit in units if unit.counted]
    metrics = {}
    if counted:
        rate = sum(counted) / len(counted)
        error = sqrt(rate * (1 - rate) / (len(counted) - 1)) if len(counted) > 1 else 0.0
        metrics = {
            "accuracy": {"name": "accuracy", "value": rate, "params": {}},
            "stderr": {"name": "stderr", "value": error, "params": {}},
        }
    score = {"name": _SCORER, "scorer": _SCORER, "params": {}, "metrics": metrics, "scored_samples": len(counted)}
    completed = sum(unit.outcome != "error" for unit in units)
    return {"total_samples": len(units), "completed_samples": completed, "scores": [score]}


def _sample(unit: UnitResult, transcript: RunTranscript | None, model: str) -> dict[str, Any]:
    messages = [] if transcript is None else list(_messages(transcript))
    first = next((one["content"] for one in messages if one["role"] == "user"), unit.eval)
    answer = "" if transcript is None else transcript.answer
    choice = {"message": {"role": "assistant", "content": answer, "source": "generate"}, "stop_reason": "stop"}
    about = {"contaminated": unit.contaminated, "activated": unit.activated, "usd": unit.usd, "unit": unit.id}
    sample: dict[str, Any] = {
        "id": unit.eval,
        "epoch": unit.run,
        "input": first,
        "target": "\n".join(one.text for one in unit.assertions),
        "messages": messages,
        "output": {"model": model, "choices": [choice]},
        "scores": {},
        "metadata": about,
        "total_time": unit.seconds,
    }
    if unit.outcome == "error":
        reason = unit.reason or "no reason is known"
        return {**sample, "error": {"message": reason, "traceback": "", "traceback_ansi": ""}}
    if unit.counted:
        told = "\n".join(
            f"{'passed' if one.passed else 'failed'}: {one.text}: {one.evidence}" for one in unit.assertions
        )
        value = "C" if unit.outcome == "passed" else "I"
        sample["scores"] = {_SCORER: {"value": value, "answer": answer, "explanation": told}}
    return sample


def _messages(transcript: RunTranscript) -> Iterator[dict[str, Any]]:
    both: tuple[TranscriptMessage | TranscriptCall, ...] = (*transcript.messages, *transcript.calls)
    records = sorted(both, key=lambda one: one.at)
    for number, record in enumerate(records, 1):
        if isinstance(record, TranscriptMessage):
            yield {"id": f"m{number}", "role": _ROLES[record.role], "content": record.text}
        else:
            yield from _call(record, number)


def _call(call: TranscriptCall, number: int) -> Iterator[dict[str, Any]]:
    ident = call.id or f"c{number}"
    made = {"id": ident, "function": call.name, "arguments": dict(call.arguments), "type": "function"}
    yield {"id": f"m{number}", "role": "assistant", "content": "", "tool_calls": [made]}
    if call.result is not None:
        result = {
            "id": f"r{number}",
            "role": "tool",
            "content": call.result,
            "tool_call_id": ident,
            "function": call.name,
        }
        yield {**result, "error": {"type": "unknown", "message": call.result}} if call.failed else result
