"""`evals/tests.yaml`: the turns of the model and the answers of tools in the tests of a skill.

    cases:
    - scenario: totals                       # a case of skill.manifest.yaml; without it the case is of this file only
      case: one invoice
      context: {tools: [read], skills: [invoices]}
      turns:
      - calls: [{name: Read, arguments: {path: a.csv}}]
      - when: "12.50"                        # this turn is given if the request contains the text
        text: You owe 12.50.

Texts of models and results of tools are data: they are compared, and given to the real session. Faults are returned
with their offsets, never raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from msgspec import UNSET, Struct

from prowess._internal.files.contained import check_relative
from prowess.errors import UnsafePathError
from prowess.format.fields.value_readers import (
    Faults,
    kind,
    named,
    needed,
    optional,
    read_choice,
    read_list,
    read_record,
    read_texts,
)
from prowess.format.manifest.manifest import Assertion, AssertionType
from prowess.format.suites.suite import SuiteFault, UnreadableTextError
from prowess.format.suites.yaml_text import YamlText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format.fields.value_readers import FieldFault, Path, Reader
    from prowess.format.manifest.manifest import Scenario

TESTS_FILE = "evals/tests.yaml"
MAX_TESTS_BYTES = 1024 * 1024
Approving = Literal["none", "all"]
_RULE = "testing.tests"


class CallScript(Struct, frozen=True, kw_only=True):
    """One call that the model makes."""

    name: str
    arguments: dict[str, Any] = {}


class TurnScript(Struct, frozen=True, kw_only=True):
    """One answer of the model. If `when` is given and the request does not contain it, `otherwise` is the answer."""

    text: str = ""
    calls: tuple[CallScript, ...] = ()
    when: str | None = None
    otherwise: TurnScript | None = None


class ToolResponse(Struct, frozen=True, kw_only=True):
    """How the double of a tool answers the calls whose arguments fit `match`, a glob for each named argument.

    Exactly one of `result`, `error` and `real` is given; with `real` the built-in tool itself runs.
    """

    tool: str
    match: dict[str, str] = {}
    result: object = UNSET
    error: str | None = None
    real: bool = False


class CaseContext(Struct, frozen=True, kw_only=True):
    """The surroundings of a case.

    `skills` are active before the first turn, `tools` are built-in tools, `neighbours` are paths of further skills
    relative to the skill's directory, and `messages` came before the input: (`user` or `assistant`, text). With
    `approve: all`, every question for an approval is answered with yes; otherwise nobody answers.
    """

    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None
    approve: Approving = "none"


class CaseExpectation(Struct, frozen=True, kw_only=True):
    """One expectation about a run, apart from its answer: exactly one of the first eight fields is given.

    `code` and `skill` belong to `refused`, `times` to `called`, and `turn` (from 1) to the last three.
    """

    found: tuple[str, ...] | None = None
    not_found: tuple[str, ...] | None = None
    activated: str | None = None
    refused: str | None = None
    called: str | None = None
    context_contains: str | None = None
    context_excludes: str | None = None
    context_tokens_at_most: int | None = None
    code: str | None = None
    skill: str | None = None
    times: int | None = None
    turn: int | None = None


class CaseScript(Struct, frozen=True, kw_only=True):
    """One case. `scenario` and `case` name a case of the manifest; without `scenario` it needs an `input` of its own.

    `recording` is the path of a transcript in the skill, in place of `turns`. Without both the case cannot be run.
    `workspace` is a directory of the skill, of which a copy is the workspace.
    """

    case: str
    scenario: str | None = None
    input: str | None = None
    assertions: tuple[Assertion, ...] = ()
    workspace: str | None = None
    context: CaseContext = CaseContext()
    turns: tuple[TurnScript, ...] | None = None
    recording: str | None = None
    responses: tuple[ToolResponse, ...] = ()
    expect: tuple[CaseExpectation, ...] = ()


class CaseScripts(Struct, frozen=True, kw_only=True):
    """The file. If it has faults, only the cases without one are in `cases`."""

    cases: tuple[CaseScript, ...] = ()
    faults: tuple[SuiteFault, ...] = ()


def read_case_scripts(text: str) -> CaseScripts:
    """Read the text of the file."""
    try:
        read = YamlText.parse(text)
    except UnreadableTextError as fault:
        return CaseScripts(faults=(SuiteFault(file=TESTS_FILE, offset=fault.offset, message=fault.reason),))
    faults = Faults()
    value = read.value
    if not isinstance(value, dict) or not isinstance(value.get("cases"), list) or len(value) > 1:
        faults.add(_RULE, "the file must be a mapping with one key, cases, a list", ("cases",))
        cases: tuple[CaseScript, ...] = ()
    else:
        cases = _cases(value["cases"], _RULE, ("cases",), faults) or ()
        _report_same(value["cases"], faults)
    again = (SuiteFault(file=TESTS_FILE, offset=key.offset, message=key.message) for key in read.repeated)
    return CaseScripts(cases=cases, faults=(*again, *(_placed(read, fault) for fault in faults.found)))


def unknown_names(text: str, scripts: CaseScripts, scenarios: tuple[Scenario, ...] | None) -> Iterator[SuiteFault]:
    """Yield a fault for each case that the manifest does not have. `scenarios` is None if it has none, or faults."""
    known = {(scenario.name, case.name) for scenario in scenarios or () for case in scenario.cases}
    if scripts.faults:
        return  # the numbers of the cases would be wrong
    read = YamlText.parse(text)
    for number, script in enumerate(scripts.cases):
        if script.scenario is not None and (script.scenario, script.case) not in known:
            message = f"the manifest has no case {kind(script.case)} in a scenario {kind(script.scenario)}"
            yield SuiteFault(file=TESTS_FILE, offset=read.offset("cases", number, "case"), message=message)


def _placed(read: YamlText, fault: FieldFault) -> SuiteFault:
    return SuiteFault(file=TESTS_FILE, offset=read.offset(*fault.path), message=fault.message)


def _report_same(listed: list[object], faults: Faults) -> None:
    seen: set[tuple[object, object]] = set()
    for number, item in enumerate(listed):
        if isinstance(item, dict) and isinstance(item.get("case"), str):
            key = (str(item.get("scenario")), item["case"])
            if key in seen:
                faults.add(_RULE, f"case {kind(item['case'])} is there twice", ("cases", number, "case"))
            seen.add(key)


def _text(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    """Read a text as it is, without trimming it."""
    if isinstance(value, str) and value:
        return value
    shown = kind(value) if value is None or isinstance(value, str | list | dict) else f"{value}, which needs quotes"
    faults.add(rule, f"{named(path)} is {shown}, it must be a text", path)
    return None


def _place(value: object, rule: str, path: Path, faults: Faults) -> str | None:
    """Read the path of a file or folder of the skill."""
    text = _text(value, rule, path, faults)
    if text is None:
        return None
    try:
        check_relative(text)
    except UnsafePathError as fault:
        faults.add(rule, f"{named(path)} leaves the skill: {fault.reason}", path)
        return None
    return text


def _number(value: object, rule: str, path: Path, faults: Faults) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    faults.add(rule, f"{named(path)} must be a whole number", path)
    return None


def _yes(value: object, rule: str, path: Path, faults: Faults) -> bool | None:
    if value is True:
        return True
    faults.add(rule, f"{named(path)} must be true", path)
    return None


def _any(value: object, rule: str, path: Path, faults: Faults) -> object:
    del rule, path, faults
    return value


def _object(value: object, rule: str, path: Path, faults: Faults) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    faults.add(rule, f"{named(path)} must be a mapping", path)
    return None


def _globs(value: object, rule: str, path: Path, faults: Faults) -> dict[str, str] | None:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    faults.add(rule, f"{named(path)} must have a glob, a text, for each argument", path)
    return None


def _one_or_more(value: object, rule: str, path: Path, faults: Faults) -> tuple[str, ...] | None:
    return read_texts([value] if isinstance(value, str) else value, rule, path, faults)


def _neighbours(value: object, rule: str, path: Path, faults: Faults) -> tuple[str, ...] | None:
    """Read paths of skills in the skill or beside it."""
    places = _one_or_more(value, rule, path, faults)
    for place in places or ():
        if place.startswith(("/", "\\")) or ":" in place:
            faults.add(rule, f"{named(path)} has {kind(place)}, which is not in the skill or beside it", path)
    return places


def _otherwise(value: object, rule: str, path: Path, faults: Faults) -> TurnScript | None:
    return _turn(value, rule, path, faults)


def _message(value: object, rule: str, path: Path, faults: Faults) -> tuple[str, str] | None:
    if isinstance(value, dict) and len(value) == 1:
        ((role, text),) = value.items()
        if role in ("user", "assistant") and isinstance(text, str) and text:
            return (role, text)
    faults.add(rule, f"{named(path)} must be {{user: TEXT}} or {{assistant: TEXT}}", path)
    return None


def _made(make: type[Any]) -> Any:  # noqa: ANN401 -- a constructor that leaves out absent values
    return lambda **values: make(**{name: value for name, value in values.items() if value is not None})


def _record(make: Any, **fields: Any) -> Reader[Any]:  # noqa: ANN401 -- a constructor, and `RecordField`s
    keys = {key.rstrip("_"): field for key, field in fields.items()}
    return read_record(make, keys, unknown=_RULE)


def _list(item: Reader[Any]) -> Reader[tuple[Any, ...]]:
    return read_list(item, _RULE)


_call = _record(_made(CallScript), name=needed("name", _text, _RULE), arguments=optional("arguments", _object, _RULE))
_turn_fields = _record(
    _made(TurnScript),
    text=optional("text", _text, _RULE),
    calls=optional("calls", _list(_call), _RULE),
    when=optional("when", _text, _RULE),
    else_=optional("otherwise", _otherwise, _RULE),
)


def _turn(value: object, rule: str, path: Path, faults: Faults) -> TurnScript | None:
    turn = cast("TurnScript | None", _turn_fields(value, rule, path, faults))
    if isinstance(value, dict) and value.keys() <= {"when", "else"}:
        faults.add(rule, f"{named(path)} has neither a text nor calls", path)
        return None
    if isinstance(value, dict) and "else" in value and "when" not in value:
        faults.add(rule, f"{named(path)} has an else that is never given; state when the turn itself is", path)
        return None
    return turn


_assertion = _record(
    _made(Assertion),
    type=needed("type", read_choice(get_args(AssertionType)), _RULE),
    value=needed("value", _text, _RULE),
    description=optional("description", _text, _RULE),
)
_context = _record(
    _made(CaseContext),
    skills=optional("skills", _one_or_more, _RULE),
    tools=optional("tools", _one_or_more, _RULE),
    neighbours=optional("neighbours", _neighbours, _RULE),
    messages=optional("messages", _list(_message), _RULE),
    agent=optional("agent", _text, _RULE),
    tenant=optional("tenant", _text, _RULE),
    environment=optional("environment", _text, _RULE),
    approve=optional("approve", read_choice(get_args(Approving)), _RULE),
)
_response_fields = _record(
    _made(ToolResponse),
    tool=needed("tool", _text, _RULE),
    match=optional("match", _globs, _RULE),
    result=optional("result", _any, _RULE),
    error=optional("error", _text, _RULE),
    real=optional("real", _yes, _RULE),
)
_expectation_fields = _record(
    _made(CaseExpectation),
    found=optional("found", _one_or_more, _RULE),
    not_found=optional("not_found", _one_or_more, _RULE),
    activated=optional("activated", _text, _RULE),
    refused=optional("refused", _text, _RULE),
    called=optional("called", _text, _RULE),
    context_contains=optional("context_contains", _text, _RULE),
    context_excludes=optional("context_excludes", _text, _RULE),
    context_tokens_at_most=optional("context_tokens_at_most", _number, _RULE),
    code=optional("code", _text, _RULE),
    skill=optional("skill", _text, _RULE),
    times=optional("times", _number, _RULE),
    turn=optional("turn", _number, _RULE),
)
_KINDS = CaseExpectation.__struct_fields__[:8]
_BELONGS = {"code": ("refused",), "skill": ("refused",), "times": ("called",), "turn": _KINDS[5:]}


def _response(value: object, rule: str, path: Path, faults: Faults) -> ToolResponse | None:
    response = cast("ToolResponse | None", _response_fields(value, rule, path, faults))
    if response is None or not isinstance(value, dict):
        return None
    if sum(key in value for key in ("result", "error", "real")) != 1:
        faults.add(rule, f"{named(path)} must have exactly one of result, error and real", path)
        return None
    if response.tool.replace("_", ".").startswith("skills."):
        faults.add(
            rule, f"{named(path)}: the tools of a session, such as {response.tool}, are always the real ones", path
        )
        return None
    return response


def _expectation(value: object, rule: str, path: Path, faults: Faults) -> CaseExpectation | None:
    expectation = cast("CaseExpectation | None", _expectation_fields(value, rule, path, faults))
    if expectation is None or not isinstance(value, dict):
        return None
    kinds = [key for key in _KINDS if key in value]
    if len(kinds) != 1:
        faults.add(rule, f"{named(path)} must have exactly one of {', '.join(_KINDS)}", path)
        return None
    for key, owners in _BELONGS.items():
        if key in value and kinds[0] not in owners:
            faults.add(rule, f"{named(path)}: {key} has no meaning with {kinds[0]}", (*path, key))
    if kinds[0] in _BELONGS["turn"] and not expectation.turn:
        faults.add(rule, f"{named(path)} must name the turn, from 1", path)
    return expectation


_case_fields = _record(
    _made(CaseScript),
    scenario=optional("scenario", _text, _RULE),
    case=needed("case", _text, _RULE),
    input=optional("input", _text, _RULE),
    assertions=optional("assertions", _list(_assertion), _RULE),
    workspace=optional("workspace", _place, _RULE),
    context=optional("context", _context, _RULE),
    turns=optional("turns", _list(_turn), _RULE),
    recording=optional("recording", _place, _RULE),
    responses=optional("responses", _list(_response), _RULE),
    expect=optional("expect", _list(_expectation), _RULE),
)


def _case(value: object, rule: str, path: Path, faults: Faults) -> CaseScript | None:
    script = cast("CaseScript | None", _case_fields(value, rule, path, faults))
    if script is None:
        return None
    if script.scenario is None and script.input is None:
        faults.add(rule, f"{named(path)} needs a scenario of the manifest, or an input of its own", path)
    if script.turns is not None and script.recording is not None:
        faults.add(rule, f"{named(path)} has both turns and a recording; keep one of them", path)
    return script


_cases = _list(_case)
