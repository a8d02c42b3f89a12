"""The OpenAPI 3.1 document of the interface, made from the table of routes and the types in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from prowess.governance.service.policies import POLICY_NAME
from prowess.governance.service.service_call import Actor
from prowess.http_server.api.route_table import ROLES, TenantQuery, may_call
from prowess.http_server.faults import ApiErrorDocument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Struct

    from prowess.http_server.api.route_table import ApiRoute

_REF = "#/components/schemas/{name}"
_PATHS = {"name": {"type": "string", "pattern": f"^{POLICY_NAME}$"}}  # the only parameter that can be new
_NAMES = re.compile(r"\{(\w+)\}")
_FAULTS = {
    "400": "The request is not what the route takes.",
    "401": "No valid token.",
    "403": "No role of the token permits this, or policy forbids it.",
    "404": "It does not exist, or belongs to another tenant.",
    "409": "It conflicts with what there is.",
    "413": "The body is too large.",
    "429": "Too many streams of this token or login are open.",
    "503": "The store or the log cannot be used now.",
}


def openapi_document(routes: Sequence[ApiRoute], version: str) -> dict[str, Any]:
    """Return the document. Each operation names the roles that may call it in `x-roles`."""
    types = [kind for route in routes for kind in (route.body, route.answer) if kind is not None and kind is not bytes]
    found, schemas = msgspec.json.schema_components(
        (*types, ApiErrorDocument), ref_template=_REF, schema_hook=_any_json
    )
    by_type = iter(found)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        body = _body(route, by_type)
        answer = _answer(route, by_type)
        paths.setdefault(route.path, {})[route.method.casefold()] = _operation(route, body, answer)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Prowess", "version": version},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                f"E{status}": {"description": text, "content": _json({"$ref": _REF.format(name="ApiErrorDocument")})}
                for status, text in _FAULTS.items()
            },
        },
    }


def roles_of(route: ApiRoute) -> list[str]:
    """Return the roles that permit a route."""
    return [
        role
        for role in ROLES
        if may_call(
            route,
            Actor(user="", roles=(role,), tenant="", identified_by="token"),  # type: ignore[arg-type]  # a role
        )
    ]


def _operation(route: ApiRoute, body: dict[str, Any] | None, answer: dict[str, Any]) -> dict[str, Any]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": _PATHS.get(name, {"type": "string", "minLength": 1})}
        for name in _NAMES.findall(route.path)
    ]
    described = {
        "operationId": route.name,
        "summary": route.summary,
        "x-roles": roles_of(route),
        "parameters": [*named, *_parameters(route.query), *_parameters(TenantQuery)],
        "responses": {**answer, **{status: {"$ref": f"#/components/responses/E{status}"} for status in _FAULTS}},
    }
    return described if body is None else {**described, "requestBody": {"required": True, "content": body}}


def _body(route: ApiRoute, by_type: Any) -> dict[str, Any] | None:  # noqa: ANN401 -- an iterator of JSON
    if route.body is None:
        return None
    if route.body is bytes:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return _json(next(by_type))


def _answer(route: ApiRoute, by_type: Any) -> dict[str, Any]:  # noqa: ANN401 -- as above
    schema = None if route.answer is None or route.answer is bytes else next(by_type)
    if route.media is not None:
        return {str(route.status): {"description": route.summary, "content": {route.media: {}}}}
    if schema is None:
        return {"204": {"description": "Done."}}
    return {str(route.status): {"description": route.summary, "content": _json(schema)}}


def _parameters(query: type[Struct]) -> list[dict[str, Any]]:
    (_,), schemas = msgspec.json.schema_components((query,), ref_template=_REF, schema_hook=_any_json)
    schema = schemas[query.__name__]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(part)}
        for name, part in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is not given is left out; `null` cannot be written in a query."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    if not options:
        return rest if schema.get("default") is None else {**rest, "default": schema["default"]}
    return {**rest, **options[0]} if len(options) == 1 else {**rest, "anyOf": options}


def _any_json(kind: type) -> dict[str, Any]:
    if kind is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
