"""The result of a call: always a value with `success`, never an exception.

The eight keys are those of the platform requirements 003, "Understanding Tool Results". `error_detail` is an addition
for programs: the error code from the closed list, the message, suggestions, and the id of an open request.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict

from prowess.errors import ApprovalRequiredError, SkillApprovalRequiredError, SkillError
from prowess.tools.prompt_escaping import sentence
from prowess.tools.spec import ToolCall, as_called


class ToolResult(Struct, frozen=True, kw_only=True, eq=False):
    """The outcome of one call.

    `result` is a mapping if `success` is true; otherwise it is None and `error` is a sentence. `duration_ms` is
    measured. `tokens_used` and `cost_usd` are 0 for tools without a model. `cause` is the typed error of a failure; it
    is neither serialised nor compared.
    """

    success: bool
    result: Mapping[str, object] | None = None
    error: str | None = None
    duration_ms: int = 0
    tokens_used: int = 0
    cost_usd: float = 0.0
    cached: bool = False
    retry_count: int = 0
    error_detail: Mapping[str, object] | None = None
    cause: SkillError | None = None

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if isinstance(other, ToolResult) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its values are mappings

    @classmethod
    def ok(cls, result: Mapping[str, object], *, duration_ms: int = 0) -> ToolResult:
        """Return a successful result."""
        return cls(success=True, result=result, duration_ms=duration_ms)

    @classmethod
    def failed(
        cls, cause: SkillError, *, duration_ms: int = 0, remark: str | None = None, called: str | None = None
    ) -> ToolResult:
        """Return a failure for `cause`. `remark` is a sentence that is appended to the message.

        If `called` is given, tools in the message are spelled in its style. Names, paths and arguments in the message
        are escaped for the model, so that they cannot imitate a tag of Prowess.
        """
        told = cause if called is None else _as_called(cause, called)
        text = sentence(str(told) if remark is None else followed_by(str(told), remark))
        suggestions = [sentence(suggestion) for suggestion in told.suggestions]
        detail: dict[str, object] = {"code": cause.code, "message": text, "suggestions": suggestions}
        if isinstance(cause, ApprovalRequiredError):
            detail["request"] = cause.request
        if isinstance(cause, SkillApprovalRequiredError):
            detail.update({name: getattr(told, name) for name in ("skill", "digest", "needed", "given", "how")})
        return cls(success=False, error=text, duration_ms=duration_ms, error_detail=detail, cause=cause)

    def as_dict(self) -> dict[str, object]:
        """Return the eight keys and `error_detail`, in this order, ready for JSON."""
        fields = asdict(self)
        del fields["cause"]
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> ToolResult:
        """Return the result from the output of `as_dict`. Raise TypeError for unknown keys."""
        return cls(**value)  # type: ignore[arg-type]  # the keys are as_dict's; a wrong one is a TypeError

    def for_anthropic(self, tool_use_id: str) -> dict[str, object]:
        """Return the user message with this result for the Anthropic Messages API."""
        return self._shaped("anthropic", tool_use_id)

    def for_openai_chat(self, tool_call_id: str) -> dict[str, object]:
        """Return the message with role `tool` for OpenAI Chat Completions."""
        return self._shaped("openai-chat", tool_call_id)

    def for_openai_responses(self, call_id: str) -> dict[str, object]:
        """Return the `function_call_output` item for OpenAI Responses."""
        return self._shaped("openai-responses", call_id)

    def for_gemini(self, name: str, call_id: str = "") -> dict[str, object]:
        """Return the content with the `functionResponse` for the Gemini API."""
        return self._shaped("gemini", call_id, name)

    def for_mcp(self) -> dict[str, object]:
        """Return the result of `tools/call` for the Model Context Protocol."""
        return self._shaped("mcp", "")

    def _shaped(self, shape: str, call_id: str, name: str = "") -> dict[str, object]:
        from prowess.tools.shapes import SHAPES  # the shapes import this module

        return SHAPES[shape].result_message(self, ToolCall(id=call_id, name=name, arguments={}))

    def unwrap(self) -> Mapping[str, object]:
        """Return the result, or raise the typed error. If only the message is known, raise a plain `SkillError`."""
        if self.success:
            return self.result or {}
        raise self.cause or SkillError(self.error)


def _as_called(cause: SkillError, called: str) -> SkillError:
    """Return a copy of the error in which tools are spelled in the style of `called`."""
    if not cause.tool_facts:
        return cause
    # Not `copy.copy`: libraries such as tblib change how exceptions are copied, and then both share their facts.
    told = type(cause).__new__(type(cause), *cause.args)
    vars(told).update(vars(cause))
    for name in cause.tool_facts:
        fact = getattr(cause, name)
        spelled = as_called(fact, called) if isinstance(fact, str) else tuple(as_called(one, called) for one in fact)
        setattr(told, name, spelled)
    return told


def followed_by(text: str, sentence: str) -> str:
    """Return `text`, ended as a sentence, followed by `sentence`."""
    return f"{text} {sentence}" if text.endswith((".", "?", "!")) else f"{text}. {sentence}"
