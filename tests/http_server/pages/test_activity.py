"""The stream of the page of activity, without a browser."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

import pytest

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from tests.http_server.organisation import in_file
from tests.http_server.pages.visitor import Visitor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.http_server.organisation import ServedOrganisation


@pytest.fixture
def organisation(tmp_path: Path) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path) as served:
        yield served


def append(organisation: ServedOrganisation, *skills: str, team: str = "live") -> None:
    log = SharedAuditLog(organisation.server.database.of_tenant("default"))
    for skill in skills:
        log.append(AuditEvent(kind="skill.loaded", data={"skill": skill, "team": team}))


def streamed(organisation: ServedOrganisation, path: str, act: Callable[[], None]) -> str:
    """Return what a stream sends until the server ends; `act` runs while it is open."""

    def go_on() -> None:
        time.sleep(0.3)
        act()
        time.sleep(0.5)
        organisation.server.is_ending = True

    thread = threading.Thread(target=go_on)
    visitor = Visitor(organisation, "administrator")
    thread.start()
    answer = visitor.client.get(path)
    thread.join()
    assert answer.headers["content-type"].startswith("text/event-stream")
    return answer.text


@pytest.mark.proves("governance.audit.dashboard")
def test_a_stream_sends_rows_of_new_records_that_match_and_no_others(organisation: ServedOrganisation) -> None:
    append(organisation, "before")

    def act() -> None:
        append(organisation, "one", "two")
        append(organisation, "other", team="another")
        organisation.sequence()

    text = streamed(organisation, "/activity/live?team=live", act)
    assert text.startswith("retry: 500\n: connected\n\n")
    assert re.findall(r'data-label="Skill"><bdi>(\w+)', text) in (["two", "one"], ["one", "two"])
    assert re.search(r"^id: [0-9a-f-]{36}\nevent: records\ndata: ", text, re.MULTILINE)


def test_a_stream_goes_on_where_a_page_or_an_earlier_stream_has_ended(organisation: ServedOrganisation) -> None:
    append(organisation, "shown")
    page = Visitor(organisation, "administrator").get("/activity?team=live")[1]
    (after,) = re.findall(r"/activity/live\?team=live&amp;after=([0-9a-f-]{36})", page)
    append(organisation, "meanwhile")
    text = streamed(organisation, f"/activity/live?team=live&after={after}", lambda: None)
    assert re.findall(r'data-label="Skill"><bdi>(\w+)', text) == ["meanwhile"]


def test_a_stream_takes_old_rows_away(organisation: ServedOrganisation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.http_server.pages.activity._MORE", 2)
    text = streamed(organisation, "/activity/live", lambda: append(organisation, "a", "b", "c", "d"))
    assert text.count('hx-swap-oob="delete"') >= 2


def test_a_stream_ends_with_its_login(organisation: ServedOrganisation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.http_server.pages.activity._CHECK_SECONDS", 0.1)
    visitor = Visitor(organisation, "administrator")
    token = next(one for one in organisation.client("administrator").get("/api/v1/tokens").json()["items"])
    remove = threading.Timer(0.4, organisation.client("administrator").delete, [f"/api/v1/tokens/{token['id']}"])
    remove.start()
    assert ": still here" in visitor.client.get("/activity/live").text  # it returns
    remove.join()
    assert organisation.client().get("/activity/live").status_code == 204


def test_a_stream_is_for_those_who_may_read_records(organisation: ServedOrganisation) -> None:
    assert Visitor(organisation, "user").client.get("/activity/live").status_code == 403


@pytest.mark.proves("governance.audit.dashboard")
def test_activity_is_filtered_by_skill_team_agent_and_time(organisation: ServedOrganisation) -> None:
    log = SharedAuditLog(organisation.server.database.of_tenant("default"))
    for skill, team, agent in (("pdf", "web", "ci"), ("csv", "web", "bot"), ("pdf", "legal", "bot")):
        log.append(AuditEvent(kind="skill.loaded", data={"skill": skill, "team": team, "agent": agent}))
    visitor = Visitor(organisation, "approver")

    def shown(query: str) -> list[tuple[str, str]]:
        page = visitor.get(f"/activity?{query}")[1]
        return re.findall(r'data-label="Skill"><bdi>(\w+)</bdi>.*?class="quiet">(\w+)</span>', page, re.DOTALL)

    assert shown("skill=pdf") == [("pdf", "legal"), ("pdf", "web")]
    assert shown("team=web&agent=bot") == [("csv", "web")]
    assert len(shown("since=2020-01-01")) == 3
    assert shown("until=2020-01-01") == []
    organisation.sequence()  # with a place in the log they are the same
    assert shown("skill=pdf") == [("pdf", "legal"), ("pdf", "web")]
