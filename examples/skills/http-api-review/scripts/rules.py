"""The rules for one description: each yields findings with a place that a person can look up."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
VERBS = re.compile(r"(create|get|fetch|list|update|delete|remove|add|set|make|do)(?=[A-Z_-]|\Z)")
LIMITS = {
    "limit",
    "page",
    "per_page",
    "page_size",
    "pagesize",
    "cursor",
    "offset",
    "after",
    "before",
    "top",
    "size",
    "count",
}


@dataclass(frozen=True)
class Finding:
    """One finding: `severity` is error, warning or advice."""

    severity: str
    rule: str
    place: str
    message: str


@dataclass(frozen=True)
class Operation:
    """One operation with its own and its path's parameters, references followed."""

    method: str
    path: str
    body: dict
    parameters: list[dict]

    @property
    def place(self) -> str:
        """How a person names it."""
        return f"{self.method.upper()} {self.path}"


def operations(description: dict) -> Iterator[Operation]:
    """Yield every operation in the order of the description."""
    for path, raw in (description.get("paths") or {}).items():
        item = follow(description, raw)
        for method in METHODS:
            body = item.get(method)
            if isinstance(body, dict):
                named = [*(item.get("parameters") or []), *(body.get("parameters") or [])]
                yield Operation(method, path, body, [follow(description, one) for one in named])


def follow(description: dict, value: object) -> dict:
    """Return the object that `value` is or refers to; an empty one where that is none."""
    for _ in range(20):
        if not isinstance(value, dict):
            return {}
        target = value.get("$ref")
        if not isinstance(target, str):
            return value
        value = resolve(description, target)
    return {}


def resolve(description: dict, target: str) -> object:
    """Return what a `#/...` reference names, None where it names nothing."""
    place: object = description
    for part in target.removeprefix("#").strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~").replace("%7B", "{").replace("%7D", "}")
        place = place.get(key) if isinstance(place, dict) else None
    return place


def review(description: dict) -> list[Finding]:
    """Return every finding."""
    found = [*_servers(description), *_references(description), *_paths(description), *_operation_ids(description)]
    for operation in operations(description):
        found += [*_parameters(operation), *_method(description, operation), *_responses(description, operation)]
    return [*found, *_error_shapes(description)]


def _servers(description: dict) -> Iterator[Finding]:
    for server in description.get("servers") or []:
        url = str(server.get("url", "")) if isinstance(server, dict) else ""
        if re.match(r"http://(?!localhost|127\.|\[::1\])", url):
            yield Finding("error", "plain-http", url, "the server is reached without encryption")


def _references(description: dict) -> Iterator[Finding]:
    used = set()
    for place, target in _all_references(description, ""):
        if not target.startswith("#"):
            yield Finding("advice", "reference", place, f"{target} lies in another file and was not looked at")
            continue
        used.add(target)
        if resolve(description, target) is None:
            yield Finding("error", "reference", place, f"{target} leads nowhere")
    for kind, parts in (description.get("components") or {}).items():
        if kind == "securitySchemes" or not isinstance(parts, dict):
            continue
        for name in parts:
            if not any(
                target == f"#/components/{kind}/{name}" or target.startswith(f"#/components/{kind}/{name}/")
                for target in used
            ):
                yield Finding("advice", "unused", f"components/{kind}/{name}", "nothing refers to it")


def _all_references(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield place or "/", value["$ref"]
        for key, part in value.items():
            yield from _all_references(part, f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _all_references(part, f"{place}/{index}")


def _paths(description: dict) -> Iterator[Finding]:
    collections: dict[str, list[str]] = {"plural": [], "single": []}
    for path in description.get("paths") or {}:
        words = [part for part in path.split("/") if part and not part.startswith("{")]
        if path != "/" and path.endswith("/"):
            yield Finding("warning", "trailing-slash", path, "drop the slash at the end")
        for word in words:
            if word != word.lower() or "_" in word:
                yield Finding("advice", "path-case", path, f"{word!r}: lower case with hyphens is the usual spelling")
            if verb := VERBS.match(word):
                yield Finding(
                    "advice", "verb-in-path", path, f"the method is the verb; {verb[1]!r} need not be in the path"
                )
        if re.search(r"/[^/{]+/\{[^}]+\}\Z", path):
            collections["plural" if path.rsplit("/", 2)[1].endswith("s") else "single"].append(path)
    if collections["plural"]:
        for path in collections["single"]:
            yield Finding("advice", "plural", path, f"collections are plural elsewhere ({collections['plural'][0]})")


def _operation_ids(description: dict) -> Iterator[Finding]:
    known = Counter(one.body.get("operationId") for one in operations(description))
    for operation in operations(description):
        name = operation.body.get("operationId")
        if not name:
            yield Finding("advice", "operation-id-missing", operation.place, "give it an operationId")
        elif known[name] > 1:
            yield Finding(
                "error", "operation-id", operation.place, f"{name!r} is the operationId of {known[name]} operations"
            )
        if not (operation.body.get("summary") or operation.body.get("description")):
            yield Finding("advice", "summary", operation.place, "say in one line what it does")


def _parameters(operation: Operation) -> Iterator[Finding]:
    wanted = set(re.findall(r"\{([^}]+)\}", operation.path))
    declared = {str(one.get("name")): one for one in operation.parameters if one.get("in") == "path"}
    for name in sorted(wanted - set(declared)):
        yield Finding("error", "path-parameter", operation.place, f"{name!r} is in the path but not declared")
    for name in sorted(set(declared) - wanted):
        yield Finding("error", "path-parameter", operation.place, f"{name!r} is declared but not in the path")
    for name in sorted(wanted & set(declared)):
        if declared[name].get("required") is not True:
            yield Finding("error", "path-parameter", operation.place, f"{name!r} must be declared with required: true")


def _method(description: dict, operation: Operation) -> Iterator[Finding]:
    if operation.method in ("get", "head", "delete") and "requestBody" in operation.body:
        yield Finding("error", "body-not-allowed", operation.place, f"{operation.method.upper()} must not need a body")
    security = operation.body.get("security", description.get("security"))
    if operation.method in ("post", "put", "patch", "delete") and not security:
        yield Finding("warning", "no-security", operation.place, "it changes something and asks for no credentials")


def _responses(description: dict, operation: Operation) -> Iterator[Finding]:
    responses = {
        str(status): follow(description, one) for status, one in (operation.body.get("responses") or {}).items()
    }
    if not responses:
        yield Finding("error", "no-response", operation.place, "no response is described")
        return
    takes_input = bool(operation.parameters) or "requestBody" in operation.body
    if takes_input and not any(status.startswith("4") or status == "default" for status in responses):
        yield Finding("warning", "no-client-error", operation.place, "no 4xx response is described")
    if (
        operation.method == "post"
        and "{" not in operation.path.rsplit("/", 1)[-1]
        and "200" in responses
        and "201" not in responses
    ):
        yield Finding(
            "advice", "created", operation.place, "a POST that creates answers 201, one that begins answers 202"
        )
    listed = any(
        follow(description, one.get("schema")).get("type") == "array" for one in _contents(responses.get("200", {}))
    )
    names = {str(one.get("name", "")).lower() for one in operation.parameters if one.get("in") == "query"}
    if operation.method == "get" and listed and not names & LIMITS:
        yield Finding("warning", "unlimited-list", operation.place, "the list has no limit and no cursor")


def _contents(response: dict) -> list[dict]:
    content = response.get("content")
    return [one for one in content.values() if isinstance(one, dict)] if isinstance(content, dict) else []


def _error_shapes(description: dict) -> Iterator[Finding]:
    shapes: dict[str, list[str]] = {}
    for operation in operations(description):
        for status, raw in (operation.body.get("responses") or {}).items():
            if not str(status).startswith(("4", "5")):
                continue
            for media, one in (follow(description, raw).get("content") or {}).items():
                schema = one.get("schema") if isinstance(one, dict) else None
                named = schema.get("$ref") if isinstance(schema, dict) else None
                shapes.setdefault(f"{media} {named or 'written out in place'}", []).append(operation.place)
    if len(shapes) > 1:
        usual = max(shapes, key=lambda shape: len(shapes[shape]))
        for shape, places in shapes.items():
            if shape != usual:
                yield Finding("warning", "error-shape", places[0], f"errors are {shape} here and {usual} elsewhere")
