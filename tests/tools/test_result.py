"""The shape of a result, and the way back to an exception."""

from __future__ import annotations

import copyreg
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import ApprovalRequiredError, SkillError, SkillNotFoundError
from prowess.tools import ToolResult

KEYS = ["success", "result", "error", "duration_ms", "tokens_used", "cost_usd", "cached", "retry_count", "error_detail"]


@pytest.mark.proves("runtime.toolresult.result", "runtime.toolresult.error")
def test_a_success_has_the_eight_keys_in_order_and_no_error() -> None:
    shape = ToolResult.ok({"a": 1}, duration_ms=5).as_dict()
    assert list(shape) == KEYS
    assert list(shape.values()) == [True, {"a": 1}, None, 5, 0, 0.0, False, 0, None]


@pytest.mark.proves("runtime.toolresult.result", "runtime.toolresult.error")
def test_a_failure_has_code_sentence_and_suggestions() -> None:
    result = ToolResult.failed(SkillNotFoundError("pfd", ("pdf",)), duration_ms=2)
    shape = result.as_dict()
    assert shape["success"] is False
    assert shape["result"] is None
    assert shape["error"] == "no skill is called 'pfd'; did you mean 'pdf'?"
    assert shape["error_detail"] == {
        "code": "skill_not_found",
        "message": "no skill is called 'pfd'; did you mean 'pdf'?",
        "suggestions": ["pdf"],
    }


def test_a_remark_is_a_sentence_of_its_own() -> None:
    assert ToolResult.failed(SkillError("It broke"), remark="Stop.").error == "It broke. Stop."
    assert ToolResult.failed(SkillError("Did it break?"), remark="Stop.").error == "Did it break? Stop."


def test_unwrap_gives_the_result_or_raises_the_typed_error() -> None:
    assert ToolResult.ok({"a": 1}).unwrap() == {"a": 1}
    cause = SkillNotFoundError("pdf")
    with pytest.raises(SkillNotFoundError) as caught:
        ToolResult.failed(cause).unwrap()
    assert caught.value is cause


@pytest.mark.proves("runtime.toolresult.json")
@given(
    success=st.booleans(),
    error=st.none() | st.text(),
    duration=st.integers(0, 10**9),
    cost=st.floats(0, 100),
    cached=st.booleans(),
    data=st.none() | st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())),
)
def test_a_result_survives_json(
    *, success: bool, error: str | None, duration: int, cost: float, cached: bool, data: dict[str, object] | None
) -> None:
    result = ToolResult(
        success=success,
        result=data,
        error=error,
        duration_ms=duration,
        tokens_used=duration,
        cost_usd=cost,
        cached=cached,
    )
    assert ToolResult.from_dict(json.loads(json.dumps(result.as_dict()))) == result


def test_a_result_from_json_raises_its_sentence() -> None:
    shape = ToolResult.failed(SkillNotFoundError("pdf")).as_dict()
    with pytest.raises(SkillError, match="no skill is called 'pdf'"):
        ToolResult.from_dict(shape).unwrap()
    with pytest.raises(TypeError):
        ToolResult.from_dict({**shape, "colour": "red"})


def test_a_failure_changes_no_fact_of_its_cause_however_exceptions_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = ApprovalRequiredError("skills.read", "ask-1", "the rule asks")

    def shared(error: ApprovalRequiredError) -> tuple[object, ...]:
        return (lambda: error, ())

    monkeypatch.setitem(copyreg.dispatch_table, ApprovalRequiredError, shared)
    assert "'skills_read'" in str(ToolResult.failed(cause, called="skills_load").error)
    assert cause.tool == "skills.read"
