"""The faults of suites that are folders: `waza` and `plugin-eval`. Both tools refuse unknown keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.format.suites.files import markdown_file
from prowess.format.suites.grader_faults import case_faults, written_fault
from prowess.format.suites.plugin_eval import CASE, GRADERS, PLUGIN_EVAL, PROMPT
from prowess.format.suites.suite import SuiteFault, SuiteFileError, UnreadableTextError
from prowess.format.suites.waza import WAZA
from prowess.format.suites.yaml_text import YamlText

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from prowess.format.suites.changes import JsonPath

    Finding = tuple[JsonPath, str]

_EVAL_KEYS = frozenset({
    "name", "description", "scenario", "skill", "schemaVersion", "version", "config", "hooks", "mcp_mocks",
    "command_mocks", "inputs", "tasks_from", "range", "graders", "metrics", "tasks", "baseline",
})  # fmt: skip
_TASK_KEYS = frozenset({
    "id", "name", "description", "enabled", "golden", "context_dir", "timeout_seconds", "first_event_timeout_seconds",
    "tags", "inputs", "expected", "graders", "skill_directories", "instruction_files",
})  # fmt: skip
_CASE_KEYS = frozenset({
    "schema_version", "name", "description", "tags", "context", "execution", "runs", "expected_outcome", "graders",
})  # fmt: skip
_PROMPT_KEYS = frozenset({
    "max_turns", "timeout_seconds", "allowed_tools", "model", "runs",
})  # fmt: skip
GRADER_TYPES = ("regex", "tool_used", "tool_order", "file_exists", "llm", "baseline")


def waza_faults(texts: Mapping[str, str]) -> Iterator[SuiteFault]:
    """Yield the faults of `eval.yaml` and of the files below `tasks/`; `texts` are their texts by path.

    Other tools have a file of this name too. It is Waza's if it has at least two of the keys that Waza needs.
    """
    if not _is_of_waza(texts["eval.yaml"]):
        return
    yield from _checked("eval.yaml", texts["eval.yaml"], _of_eval)
    seen: set[str] = set()
    for path, text in texts.items():
        if path.startswith("tasks/"):
            yield from _checked(path, text, lambda value: _of_task(value, seen))


def _is_of_waza(text: str) -> bool:
    try:
        value = YamlText.parse(text).value
    except UnreadableTextError:
        return True
    return isinstance(value, dict) and len({"config", "metrics", "tasks", "tasks_from"} & {*value}) > 1


def plugin_faults(texts: Mapping[str, str]) -> Iterator[SuiteFault]:
    """Yield the faults of the folders of cases; `texts` are the texts of their files by path.

    Folders with a prompt alone belong to another tool: at least one case must have a grader or `case.yaml`.
    """
    if not any(path.endswith(f"/{CASE}") or f"/{GRADERS}/" in path for path in texts):
        return
    for name in sorted({path.split("/")[0] for path in texts if path.endswith((f"/{PROMPT}", f"/{CASE}"))}):
        yield from _of_case(name, {path: text for path, text in texts.items() if path.startswith(f"{name}/")})


def _of_case(name: str, texts: Mapping[str, str]) -> Iterator[SuiteFault]:
    case: dict[str, Any] = {}
    prompt = ""
    first = f"{name}/{PROMPT}" if f"{name}/{PROMPT}" in texts else f"{name}/{CASE}"
    try:
        if (text := texts.get(f"{name}/{CASE}")) is not None:
            read = YamlText.parse(text)
            yield from _placed(f"{name}/{CASE}", read, _of_case_file(read.value))
            case = read.value if isinstance(read.value, dict) else {}
            execution = case.get("execution")
            prompt = str(execution.get("prompt") or "") if isinstance(execution, dict) else ""
        if (text := texts.get(first)) is not None and first.endswith(PROMPT):
            content = markdown_file(first, text)
            prompt = content["body"]
            yield from _at_start(first, _keys(content["fields"], _PROMPT_KEYS, "the front matter"))
    except UnreadableTextError as fault:
        yield SuiteFault(file=f"{name}/{CASE}", offset=fault.offset, message=str(fault))
        return
    except SuiteFileError as fault:
        yield fault.fault
        return
    if not prompt.strip():
        yield SuiteFault(file=first, offset=0, message="the case has no prompt")
    graders = [path for path in texts if path.startswith(f"{name}/{GRADERS}/") and path.endswith(".md")]
    if not graders and not case.get("graders"):
        yield SuiteFault(file=first, offset=0, message=f"the case has no grader; add {GRADERS}/NAME.md")
    for path in graders:
        yield from _of_grader(path, texts[path])


def _of_case_file(value: Any) -> Iterator[Finding]:  # noqa: ANN401 -- JSON
    yield from _keys(value, _CASE_KEYS, "the case")
    listed = value.get("graders") if isinstance(value, dict) else None
    for number, grader in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(grader, dict) and (fault := written_fault(grader, _no_file)) is not None:
            yield ("graders", number), f"graders[{number}] can decide nothing: {fault}"


def _no_file(path: str) -> str | None:
    """No grader of these two tools names a program of the skill."""
    del path
    return None


def _of_grader(path: str, text: str) -> Iterator[SuiteFault]:
    try:
        content = markdown_file(path, text)
    except SuiteFileError as fault:
        yield fault.fault
        return
    kind = content["fields"].get("type") if isinstance(content["fields"], dict) else None
    if kind not in GRADER_TYPES:
        message = f"the grader's `type` must be one of {', '.join(GRADER_TYPES)}"
        yield SuiteFault(file=path, offset=0, message=message)
    elif kind in ("regex", "llm") and not content["body"].strip():
        yield SuiteFault(file=path, offset=0, message="the grader has no text below its front matter")
    else:
        name = path.rpartition("/")[2].removesuffix(".md")
        for _, reason in case_faults(PLUGIN_EVAL.read_case({GRADERS: {name: content}}), _no_file):
            yield SuiteFault(file=path, offset=0, message=f"the grader can decide nothing: {reason}")


def _checked(path: str, text: str, faults: Callable[[Any], Iterator[Finding]]) -> Iterator[SuiteFault]:
    try:
        read = YamlText.parse(text)
    except UnreadableTextError as fault:
        yield SuiteFault(file=path, offset=fault.offset, message=str(fault))
        return
    yield from _placed(path, read, faults(read.value))


def _placed(path: str, read: YamlText, findings: Iterator[Finding]) -> Iterator[SuiteFault]:
    for again in read.repeated:
        yield SuiteFault(file=path, offset=again.offset, message=again.message)
    for place, message in findings:
        yield SuiteFault(file=path, offset=read.offset(*place), message=message)


def _at_start(path: str, findings: Iterator[Finding]) -> Iterator[SuiteFault]:
    for _, message in findings:
        yield SuiteFault(file=path, offset=0, message=message)


def _keys(value: object, known: Collection[str], what: str) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield (), f"{what} must be a mapping"
        return
    for key in value:
        if key not in known:
            yield (key,), f"{what} has no key {key[:60]!r}"


def _of_eval(value: Any) -> Iterator[Finding]:  # noqa: ANN401 -- JSON
    yield from _keys(value, _EVAL_KEYS, "eval.yaml")
    if not isinstance(value, dict):
        return
    for key, kind, wanted in (("name", str, "a text"), ("config", dict, "a mapping"), ("metrics", list, "a list")):
        if not isinstance(value.get(key), kind) or not value[key]:
            yield (key,), f"{key} must be {wanted}, and not empty"
    if not isinstance(value.get("skill", value.get("scenario")), str):
        yield ("skill",), "skill must be the name of the skill"
    if not value.get("tasks") and not value.get("tasks_from"):
        yield ("tasks",), "tasks must be a list of patterns such as tasks/*.yaml"


def _of_task(value: Any, seen: set[str]) -> Iterator[Finding]:  # noqa: ANN401 -- JSON
    yield from _keys(value, _TASK_KEYS, "the task")
    if not isinstance(value, dict):
        return
    for key in ("id", "name"):
        if not isinstance(value.get(key), str) or not value[key]:
            yield (key,), f"{key} must be a text that is not empty"
    if isinstance(value.get("id"), str):
        if value["id"] in seen:
            yield ("id",), f"id is {value['id'][:60]!r} as in an earlier task"
        seen.add(value["id"])
    for text, fault in case_faults(WAZA.read_case(value), _no_file):
        yield ("graders",), f"the assertion {text[:60]!r} can decide nothing: {fault}"
    inputs = value.get("inputs")
    if not isinstance(inputs, dict) or not any(isinstance(inputs.get(key), str) for key in ("prompt", "prompt_file")):
        yield ("inputs",), "inputs must have a prompt, or a prompt_file"
