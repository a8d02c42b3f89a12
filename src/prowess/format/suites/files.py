"""Suites on disk: one file of JSON, or a folder with several files.

Files are opened below the named directory only, and no link is followed. Files that no form knows, such as a script
that prepares a case, are carried as texts in the data.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError
from prowess.format.suites.forms import ORIGIN, FormedData, form_of
from prowess.format.suites.imported import OPENAI, is_openai_evaluation
from prowess.format.suites.json_text import JsonText
from prowess.format.suites.plugin_eval import CASE, GRADERS, PLUGIN_EVAL, PROMPT
from prowess.format.suites.suite import SuiteError, SuiteFileError, UnreadableTextError
from prowess.format.suites.waza import WAZA
from prowess.format.suites.yaml_text import YamlText, yaml_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.format.suites.form import SuiteForm

MAX_FILES = 2000
MAX_BYTES = 4 * 1024 * 1024  # of one file
_OTHER = "other"
_FENCE = re.compile(r"---[ \t]*\n(?:(.*?)\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)


def read_suite(path: str) -> FormedData:
    """Read a suite: a file of JSON, `eval.yaml`, a folder of cases, or a skill's directory with one in `evals/`.

    Raises:
        SuiteError: there is no suite at this path, or it cannot be read.
    """
    if os.path.isdir(path):
        return _read_directory(path)
    if os.path.basename(path) == "eval.yaml":  # Waza's; a file of caliper is called NAME.eval.yaml
        return _read_directory(os.path.dirname(path) or ".")
    try:
        with ContainedRoot(os.path.dirname(path) or ".") as root:
            text = _text(root, os.path.basename(path))
    except (OSError, UnsafePathError) as fault:
        raise SuiteError(_reason(path, fault)) from None
    if path.endswith((".yaml", ".yml")):
        return _formed(_yaml(path, text), path)
    return _of_json(text, path)


def _of_json(text: str, path: str) -> FormedData:
    try:
        read = JsonText.parse(text)
    except UnreadableTextError as fault:
        raise SuiteError(f"{path}:{_line(text, fault.offset)}: {fault}") from None
    for again in read.repeated:
        raise SuiteError(f"{path}:{_line(text, again.offset)}: {again.message}")
    return _formed(read.value, path)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _formed(value: Any, path: str) -> FormedData:  # noqa: ANN401 -- JSON
    if is_openai_evaluation(value):
        return FormedData(form=OPENAI, data={os.path.basename(path): value})
    try:
        form = form_of(value)
        form.split(value)
    except SuiteError as fault:
        raise SuiteError(f"{path} is no suite: {fault}") from None
    return FormedData(form=form, data=value)


def _read_directory(path: str) -> FormedData:
    try:
        with ContainedRoot(path) as root:
            entries = dict(root.entries())
            if "file" in (entries.get("eval.yaml"), entries.get(ORIGIN)) or _is_of_cases(root, entries):
                return data_of(_texts(root))
            if entries.get("evals") == "directory":
                if dict(root.entries("evals")).get("evals.json") == "file":
                    return _of_json(_text(root, "evals/evals.json"), os.path.join(path, "evals", "evals.json"))
                return _read_directory(os.path.join(path, "evals"))
            if entries.get("evals.json") == "file":
                return _of_json(_text(root, "evals.json"), os.path.join(path, "evals.json"))
            if evaluations := _evaluations(root, entries):
                return FormedData(form=OPENAI, data=evaluations)
    except (OSError, UnsafePathError) as fault:
        raise SuiteError(_reason(path, fault)) from None
    place = os.path.join(path, *([] if os.path.basename(os.path.abspath(path)) == "evals" else ["evals"]), "evals.json")
    missing = "no evals.json, no eval.yaml, and no folder with prompt.md or case.yaml"
    raise SuiteError(f"{path} has no suite: {missing}; write {place}")


def _is_of_cases(root: ContainedRoot, entries: Mapping[str, str]) -> bool:
    folders = [name for name, kind in entries.items() if kind == "directory"]
    return any({PROMPT, CASE} & {name for name, _ in root.entries(folder)} for folder in folders)


def _evaluations(root: ContainedRoot, entries: Mapping[str, str]) -> dict[str, Any]:
    """Return the files of a folder `evaluations/`, if it is one."""
    found = {name: _json(name, _text(root, name)) for name in sorted(entries) if name.endswith(".json")}
    return found if all(map(is_openai_evaluation, found.values())) else {}


def _reason(path: str, fault: OSError | UnsafePathError) -> str:
    reason = fault.strerror if isinstance(fault, OSError) else fault.reason
    return f"{path} cannot be read: {reason}"


def _text(root: ContainedRoot, path: str) -> str:
    with root.open(path, allow_hard_links=True) as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SuiteError(f"{path} is larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "\0" + base64.b64encode(data).decode()


def _texts(root: ContainedRoot) -> dict[str, str]:
    """Return all files below a directory by path. A file that is not UTF-8 is kept as NUL and base64."""
    found: dict[str, str] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for name, kind in sorted(root.entries(folder or ".")):
            path = f"{folder}/{name}" if folder else name
            if kind == "directory" and name != ".git":
                waiting.append(path)
            elif kind == "file":
                found[path] = _text(root, path)
            if len(found) > MAX_FILES:
                raise SuiteError(f"a suite has at most {MAX_FILES} files")
    return dict(sorted(found.items()))


def data_of(texts: Mapping[str, str]) -> FormedData:
    """Return the data of a folder from the texts of its files, by path.

    Raises:
        SuiteFileError: a file is not YAML, or not JSON.
    """
    rest = dict(texts)
    form: SuiteForm = PLUGIN_EVAL
    carried = {ORIGIN: _json(ORIGIN, rest.pop(ORIGIN))} if ORIGIN in rest else {}
    if "eval.yaml" in rest:
        data: dict[str, Any] = {"eval": _yaml("eval.yaml", rest.pop("eval.yaml"))}
        tasks = [path for path in rest if re.fullmatch(r"tasks/[^/]+\.ya?ml", path)]
        data["tasks"] = {path.removeprefix("tasks/"): _yaml(path, rest.pop(path)) for path in tasks}
        form = WAZA
    else:
        data = {"cases": _cases(rest)}
    other = {_OTHER: rest} if rest else {}
    return FormedData(form=form, data={**data, **other, **carried})


def _cases(rest: dict[str, str]) -> dict[str, Any]:
    """Take the files of cases out of `rest`, and return the cases by the names of their folders."""
    names = {path.split("/")[0] for path in rest if re.fullmatch(rf"[^/]+/({PROMPT}|{CASE})", path)}
    cases: dict[str, Any] = {}
    for name in sorted(names):
        case: dict[str, Any] = {}
        graders: dict[str, Any] = {}
        other: dict[str, str] = {}
        for path in [path for path in rest if path.startswith(f"{name}/")]:
            inner, text = path.removeprefix(f"{name}/"), rest.pop(path)
            if inner == PROMPT:
                case[PROMPT] = markdown_file(path, text)
            elif inner == CASE:
                case[CASE] = _yaml(path, text)
            elif found := re.fullmatch(rf"{GRADERS}/([^/]+)\.md", inner):
                graders[found[1]] = markdown_file(path, text)
            else:
                other[inner] = text
        cases[name] = {**case, **({GRADERS: graders} if graders else {}), **({_OTHER: other} if other else {})}
    return cases


def markdown_file(path: str, text: str) -> dict[str, Any]:
    """Return the front matter (`fields`) and the text below it (`body`) of a Markdown file of a suite.

    Raises:
        SuiteFileError: the front matter is not YAML.
    """
    fence = _FENCE.match(text)
    fields = (fence is not None and fence[1] and _yaml(path, text, fence.span(1))) or {}
    return {"fields": fields, "body": (text if fence is None else text[fence.end() :]).removesuffix("\n")}


def _yaml(path: str, text: str, span: tuple[int, int] | None = None) -> Any:  # noqa: ANN401 -- JSON
    """Return the value of a text, or of the part of it at `span`."""
    start, end = (0, len(text)) if span is None else span
    return _value(path, text, start, lambda: YamlText.parse(text[start:end]))


def _json(path: str, text: str) -> Any:  # noqa: ANN401 -- JSON
    return _value(path, text, 0, lambda: JsonText.parse(text))


def _value(path: str, text: str, start: int, parse: Callable[[], YamlText | JsonText]) -> Any:  # noqa: ANN401 -- JSON
    try:
        read = parse()
    except UnreadableTextError as fault:
        offset = start + fault.offset
        raise SuiteFileError(fault.reason, path, offset, _line(text, offset)) from None
    for again in read.repeated:
        offset = start + again.offset
        raise SuiteFileError(again.message, path, offset, _line(text, offset))
    return read.value


def texts_of(formed: FormedData) -> dict[str, str]:
    """Return the files of a suite by path; of a form in JSON the one file has the path ``."""
    data = formed.data
    if formed.form.layout != "folder":
        return {"": _json_text(data)}
    found: dict[str, str] = dict(data.get(_OTHER, {}))
    if ORIGIN in data:
        found[ORIGIN] = _json_text(data[ORIGIN])
    if formed.form.name == WAZA.name:
        found["eval.yaml"] = yaml_of(data["eval"])
        found.update({f"tasks/{name}": yaml_of(task) for name, task in data.get("tasks", {}).items()})
        return found
    for name, case in data["cases"].items():
        if PROMPT in case:
            found[f"{name}/{PROMPT}"] = _markdown_text(case[PROMPT])
        if CASE in case:
            found[f"{name}/{CASE}"] = yaml_of(case[CASE])
        for grader, content in case.get(GRADERS, {}).items():
            found[f"{name}/{GRADERS}/{grader}.md"] = _markdown_text(content)
        found.update({f"{name}/{path}": text for path, text in case.get(_OTHER, {}).items()})
    return found


def _markdown_text(content: Mapping[str, Any]) -> str:
    fields, body = content["fields"], content["body"]
    if not isinstance(body, str):
        raise TypeError(body)
    head = f"---\n{yaml_of(fields)}---\n" if fields else "---\n---\n" if body.startswith("---") else ""
    return f"{head}{body}\n"


def _json_text(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair can only be written as an escape
        text = json.dumps(data, indent=2)
    return f"{text}\n"


def write_suite(formed: FormedData, path: str) -> None:
    """Write a suite to a new file or folder.

    Raises:
        SuiteError: the path exists, a name would leave the folder, or the disk refuses.
    """
    if os.path.lexists(path):
        raise SuiteError(f"{path} exists; name a new file or folder")
    try:
        texts = texts_of(formed)
    except (TypeError, AttributeError, LookupError, ValueError):
        raise SuiteError(f"the data cannot be written as a folder of the form {formed.form.name}") from None
    files: dict[str, bytes] = {}
    for inner, text in texts.items():  # all are looked at before the first is written
        parts = inner.split("/") if inner else []
        if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
            raise SuiteError(f"{inner!r} is no path below the folder of the suite")
        target = os.path.join(path, *parts)
        try:
            os.fsencode(target)
            files[target] = base64.b64decode(text[1:]) if text.startswith("\0") else text.encode()
        except UnicodeEncodeError:
            raise SuiteError(f"{target} cannot be written: it has half of a surrogate pair") from None
    try:
        for target, data in files.items():
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
    except OSError as fault:
        shutil.rmtree(path, ignore_errors=True)  # a folder of ours; half of a suite is none
        raise SuiteError(f"{target} cannot be written: {fault.strerror}") from None
