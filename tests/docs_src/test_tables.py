"""Tables that pages write by hand name everything that the code declares."""

from __future__ import annotations

import re
from pathlib import Path

from prowess.distribution.installation.report import PROBLEMS
from prowess.format.fields.extended_fields import ExtendedFields
from prowess.format.limits import EXTENDED_FIELDS
from prowess.http_server.api.openapi import roles_of
from prowess.http_server.api.routes import ROUTES
from prowess.policy import policy_file
from prowess.runtime.events.event import KINDS
from prowess.runtime.tools import load, read, run_script, unload

_DOCS = Path(__file__).parents[2] / "docs"


def _cells(page: str, first: str = "") -> dict[str, str]:
    """Return the second cell of each row of a page's tables, by the code in the first one."""
    rows = re.findall(rf"^\| `({first}[^`]+)` \| (.*?) \|", (_DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def test_the_page_of_events_has_each_kind() -> None:
    text = (_DOCS / "reference/events.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in text] == []


def test_the_page_of_sessions_has_each_argument_of_the_tools() -> None:
    rows = _cells("build/sessions.md", "skills")
    for module in (load, unload, read, run_script):
        properties = module.SPEC.input_schema["properties"]
        assert isinstance(properties, dict)
        assert [name for name in properties if f"`{name}`" not in rows[module.SPEC.name]] == [], module.SPEC.name


def test_the_page_of_the_http_interface_has_each_route_with_its_roles() -> None:
    text = (_DOCS / "reference/http-api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `((?:GET|POST|PUT|DELETE) /\S*)` \| (.*) \| ([a-z, ]+) \|$", text, re.MULTILINE)
    people = ["viewer", "user", "author", "approver", "administrator"]
    expected = [
        (f"{route.method} {route.path}", route.summary, "people" if roles == people else ", ".join(roles))
        for route in ROUTES
        for roles in [roles_of(route)]
    ]
    assert rows == expected


def test_the_page_of_policies_has_each_key() -> None:
    rows = _cells("administer/policy.md")
    named = {key.partition(".")[0] for key in rows}  # a table has a row for each of its keys
    assert {name for name in policy_file._KEYS if name not in {"rule", "expect"}} - named == set()


def test_each_extended_field_is_listed_as_one() -> None:
    """A skill with none of the listed keys is read as having no extended field, whatever else it holds."""
    ours = {name.replace("_", "-") for name in ExtendedFields.__struct_fields__} - {"unreadable", "faults"}
    spelled = {key.casefold().replace("_", "-") for key in EXTENDED_FIELDS}
    assert [name for name in ours if name not in spelled] == []


def test_the_page_of_installed_skills_has_each_problem() -> None:
    rows = _cells("reference/installation.md")
    assert {code: rows.get(code) for code in PROBLEMS} == dict(PROBLEMS)
