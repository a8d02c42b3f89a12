"""What a new description takes away from the clients of an old one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules import Finding, Operation, follow, operations

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 12


def breaking_changes(old: dict, new: dict) -> list[Finding]:
    """Return every change that can break a client, most of them errors."""
    now = {_key(one): one for one in operations(new)}
    found: list[Finding] = []
    for before in operations(old):
        after = now.get(_key(before))
        if after is None:
            found.append(Finding("error", "breaking-removed", before.place, "the operation is gone"))
            continue
        found += [*_inputs(before, after), *_bodies(old, new, before, after), *_outputs(old, new, before, after)]
    return found


def _key(operation: Operation) -> tuple[str, str]:
    """The names of path parameters do not matter to a client, their places do."""
    parts = ["{}" if part.startswith("{") else part for part in operation.path.split("/")]
    return operation.method, "/".join(parts)


def _inputs(before: Operation, after: Operation) -> Iterator[Finding]:
    known = {(one.get("in"), one.get("name")): one for one in before.parameters}
    for one in after.parameters:
        where, name = one.get("in"), one.get("name")
        was = known.get((where, name))
        if where != "path" and one.get("required") is True and (was is None or was.get("required") is not True):
            change = "is new and required" if was is None else "is required now"
            yield Finding("error", "breaking-input", after.place, f"{where} parameter {name!r} {change}")


def _bodies(old: dict, new: dict, before: Operation, after: Operation) -> Iterator[Finding]:
    was, now = follow(old, before.body.get("requestBody")), follow(new, after.body.get("requestBody"))
    if now.get("required") is True and was.get("required") is not True:
        yield Finding("error", "breaking-input", after.place, "the request body is required now")
    for media, content in (was.get("content") or {}).items():
        current = (now.get("content") or {}).get(media)
        if current is None:
            yield Finding("error", "breaking-input", after.place, f"{media} is not accepted any more")
            continue
        pair = follow(old, content.get("schema")), follow(new, current.get("schema"))
        yield from _schemas(old, new, pair, after.place, "request", 0)


def _outputs(old: dict, new: dict, before: Operation, after: Operation) -> Iterator[Finding]:
    now = {str(status): one for status, one in (after.body.get("responses") or {}).items()}
    for status, raw in (before.body.get("responses") or {}).items():
        if not str(status).startswith("2"):
            continue
        if str(status) not in now:
            yield Finding("error", "breaking-output", after.place, f"the response {status} is gone")
            continue
        contents = follow(new, now[str(status)]).get("content") or {}
        for media, content in (follow(old, raw).get("content") or {}).items():
            if media not in contents:
                yield Finding("error", "breaking-output", after.place, f"{status} has no {media} any more")
                continue
            pair = follow(old, content.get("schema")), follow(new, contents[media].get("schema"))
            yield from _schemas(old, new, pair, after.place, f"{status}", 0)


def _schemas(old: dict, new: dict, pair: tuple[dict, dict], place: str, at: str, depth: int) -> Iterator[Finding]:  # noqa: PLR0917 - a walk carries its place
    was, now = pair
    incoming = at.startswith("request")
    rule = "breaking-input" if incoming else "breaking-output"
    if depth > MAX_DEPTH or not was or not now:
        return
    if was.get("type") and now.get("type") and was["type"] != now["type"]:
        yield Finding("error", rule, place, f"{at}: the type was {was['type']} and is {now['type']}")
        return
    lost = [value for value in was.get("enum") or [] if value not in (now.get("enum") or was["enum"])]
    gained = [value for value in now.get("enum") or [] if value not in (was.get("enum") or now["enum"])]
    if lost and incoming:
        yield Finding("error", rule, place, f"{at}: {lost[0]!r} is not accepted any more")
    if gained and not incoming:
        yield Finding("warning", rule, place, f"{at}: {gained[0]!r} may be answered now")
    if incoming:
        for name in sorted(set(now.get("required") or []) - set(was.get("required") or [])):
            yield Finding("error", rule, place, f"{at}: {name!r} is required now")
    for name, part in (was.get("properties") or {}).items():
        current = (now.get("properties") or {}).get(name)
        if current is None:
            if not incoming:
                yield Finding("error", rule, place, f"{at}: {name!r} is gone")
            continue
        yield from _schemas(old, new, (follow(old, part), follow(new, current)), place, f"{at}.{name}", depth + 1)
    if "items" in was and "items" in now:
        yield from _schemas(
            old, new, (follow(old, was["items"]), follow(new, now["items"])), place, f"{at}[]", depth + 1
        )
