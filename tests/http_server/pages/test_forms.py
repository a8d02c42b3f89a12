"""Forms of the pages, without a browser: what they do, what they refuse, and what they show of other people's texts."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.cli.dispatch import run
from prowess.http_server.pages.rendering.navigation import NAVIGATION
from prowess.http_server.pages.routes import FORMS, PAGES
from prowess.policy.roles import ROLES
from tests.http_server.organisation import in_file
from tests.http_server.pages.served_pages import sample_paths, waiting_question
from tests.http_server.pages.visitor import Visitor
from tests.http_server.samples import skill_archive
from tools.sample_decisions import POLICY, add_decisions
from tools.sample_organisation import add_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.http_server.organisation import ServedOrganisation

HOSTILE = "<script>alert(1)</script>{{ 7919*7919 }}\u202egnp.exe\x00" + "w" * 300


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("organisation")) as served:
        add_records(served.server.database.of_tenant("default"), 8)
        add_decisions(served.server.database, served.private)
        served.sequence()
        yield served


def test_a_block_is_added_by_the_form_and_lifted(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    added = visitor.send("/blocks", "/blocks", kind="name", value="csv-report", reason="leaks <tokens>")
    assert "The block holds at the next call." in added.text
    assert "leaks &lt;tokens&gt;" in added.text
    (path,) = re.findall(
        r'action="(/blocks/[^"]+/remove)"><[^>]+><button[^>]*>Lift<[^>]*> the block of csv-report', added.text
    )
    assert "The block is removed." in visitor.send("/blocks", path).text
    assert "csv-report" not in visitor.get("/blocks")[1]


def test_a_form_that_is_refused_comes_back_with_what_was_entered(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    refused = visitor.send("/blocks", "/blocks", kind="digest", value="no digest", reason="why")
    assert refused.status_code == 400
    assert 'value="no digest"' in refused.text
    assert 'role="alert"' in refused.text


def test_a_form_without_the_hidden_field_does_nothing(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    answer = visitor.client.post("/blocks", data={"kind": "name", "value": "release-notes", "reason": "why"})
    assert answer.status_code == 403
    assert "release-notes" not in visitor.get("/blocks")[1]


@pytest.mark.parametrize("path", [path for path, _ in FORMS])
def test_nobody_sends_a_form_without_a_login(organisation: ServedOrganisation, path: str) -> None:
    answer = organisation.client().post(path.replace("{id}", "x"), data={}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")


def test_a_page_without_a_login_leads_to_the_login_and_back(organisation: ServedOrganisation) -> None:
    answer = organisation.client().get("/audit?skill=csv-report", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/audit%3Fskill%3Dcsv-report")


def test_a_token_is_shown_once_and_can_log_in(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    made = visitor.send("/tokens", "/tokens", user=HOSTILE[:40], role="viewer", team="", expires="1d")
    (text,) = re.findall(r'id="token-text">([^<]+)<', made.text)
    assert text not in visitor.get("/tokens")[1]
    answer = organisation.client().get("/api/v1/me", headers={"authorization": f"Bearer {text}"})
    assert answer.json()["roles"] == ["viewer"]


@pytest.mark.proves("governance.ui.manage")
def test_two_people_approve_and_an_approval_is_revoked(organisation: ServedOrganisation) -> None:
    path = f"/approvals/{waiting_question(organisation)}"
    first, second = (Visitor(organisation, "approver", user=user) for user in ("emre", "fay"))
    _, shown = first.get(path)
    assert "Difference to the approved version" in shown
    assert "-# CSV report" in shown
    assert "+# CSV summary" in shown
    item = organisation.client("approver").get(f"/api/v1{path}").json()
    assert (item["capabilities"] is None, "(of the deployed files)" in item["text"]) == (False, True)
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', shown)
    changed = first.send(path, f"{path}/vote", vote="approve", digest=f"sha256:{1:064}")
    assert changed.status_code == 409
    assert "look at it again" in changed.text
    assert "1 of 2" in first.send(path, f"{path}/vote", vote="approve", reason="fine", digest=digest).text
    again = first.send(path, f"{path}/vote", vote="approve", digest=digest)
    assert again.status_code == 409
    assert "has approved" in again.text
    approved = second.send(path, f"{path}/vote", vote="approve", digest=digest)
    assert "Your vote is recorded." in approved.text
    assert "2 of 2" in approved.text
    revoked = second.send(path, f"{path}/revoke", reason="too early")
    assert "void at the next call" in revoked.text
    assert "0 of 2" in revoked.text


def test_an_author_does_not_vote(organisation: ServedOrganisation) -> None:
    path = f"/approvals/{waiting_question(organisation)}"
    author = Visitor(organisation, "author")
    assert "Your vote" not in author.get(path)[1]
    assert author.send(path, f"{path}/vote", vote="approve").status_code == 403


@pytest.mark.proves("governance.ui.manage")
def test_a_skill_is_deployed_from_its_archive(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    archive = ("new.tar.gz", skill_archive("web-made"), "application/gzip")
    deployed = visitor.upload("/deployments", "/deployments", archive, environments="staging, test")
    assert "The deployment is published." in deployed.text
    assert "staging, test" in deployed.text
    assert "web-made" in deployed.text
    for data, told in ((b"", "Choose the archive"), (b"no archive", "archive 1")):
        refused = visitor.upload("/deployments", "/deployments", ("x.tar.gz", data, "application/gzip"))
        assert refused.status_code in {400, 409}
        assert told in refused.text


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b"nothing"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nno name\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n\xff\r\n--x--'),
        ("multipart/form-data; boundary=x", b"--x\r\n" * 30),
    ],
)
def test_what_is_no_form_is_refused(organisation: ServedOrganisation, kind: str, body: bytes) -> None:
    visitor = Visitor(organisation, "administrator")
    answer = visitor.client.post("/deployments", content=body, headers={"content-type": kind})
    assert answer.status_code == 400
    assert "This request is not valid" in answer.text


def test_a_skill_is_taken_away_and_the_release_before_comes_back(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    gone = visitor.send("/deployments", "/deployments/revoke", skill="log-triage")
    assert "The deployment is published." in gone.text
    assert re.search(r"Release 4|Release 3", gone.text)
    back = visitor.send("/deployments", "/deployments/2/rollback")
    assert "log-triage" in back.text.partition("Release 2")[0]
    refused = visitor.send("/deployments", "/deployments/revoke", skill="not-there")
    assert refused.status_code == 409
    assert "not-there" in refused.text


@pytest.mark.proves("governance.ui.browse")
def test_skills_are_found_by_name_tag_and_layer(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "user")

    def names(query: str) -> list[str]:
        return re.findall(r'href="/skills/one\?name=([^"]+)"', visitor.get(f"/skills?{query}")[1])

    assert "csv-report" in names("")
    assert names("tag=Reports") == ["csv-report"]
    assert names("tag=nothing") == []
    assert names("layer=enterprise") == ["deploy-service"]
    assert names("text=notes&deployed=yes") == ["release-notes"]
    shown = visitor.get("/skills/one?name=csv-report")[1]
    assert 'href="/skills?tag=reports"' in shown
    assert "in use" in shown
    assert "Copies on machines" not in shown  # the role may not read what other people have


def test_a_person_of_the_organisation_chooses_the_tenant(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator", "*")
    assert "contract-summary" in visitor.get("/blocks")[1]
    chosen = visitor.send("/blocks", "/tenant", tenant="*")
    assert '<option value="*" selected>all tenants</option>' in chosen.text
    visitor.send("/blocks", "/blocks", kind="name", value="everywhere", reason="for all tenants")
    visitor.send("/blocks", "/tenant", tenant="default")
    shown = visitor.get("/blocks")[1]
    assert "everywhere" in shown
    assert "the organisation's" in shown
    assert visitor.send("/blocks", "/tenant", tenant="no-such-tenant").status_code == 200
    assert "contract-summary" in visitor.get("/blocks")[1]


def test_a_policy_is_replayed_before_it_is_pushed_and_a_refusal_names_the_number(
    organisation: ServedOrganisation,
) -> None:
    visitor = Visitor(organisation, "administrator")
    denying = f'{POLICY}[[rule]]\nid = "nothing"\neffect = "deny"\ntool = "Bash"\n'
    replayed = visitor.send("/policies/new", "/policies/check", name="strict", toml=denying, act="replay")
    (newly,) = re.findall(r"<dt>Newly denied</dt><dd>(\d+)</dd>", replayed.text)
    assert int(newly) > 0
    assert re.search(r'href="/audit/\d+">record \d+', replayed.text)
    refused = visitor.send("/policies/new", "/policies/check", name="strict", toml=denying, act="push", accept="0")
    assert refused.status_code == 409
    assert "would be newly denied, and 0 are accepted" in refused.text
    pushed = visitor.send("/policies/new", "/policies/check", name="strict", toml=denying, act="push", accept=newly)
    assert "The policy holds at the next call." in pushed.text
    assert "nothing" in visitor.get("/policies/one?name=strict")[1]


@pytest.mark.parametrize("query", ["", "?skill=csv-report"])
def test_an_export_of_the_log_is_verified_by_the_command(
    organisation: ServedOrganisation, query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Visitor(organisation, "approver").client.get(f"/audit/export{query}")
    (tmp_path / "export.jsonl").write_bytes(answer.content)
    (tmp_path / "log.pub").write_text(organisation.server.organisation.public_key)
    command = ["audit", "verify", "--export", str(tmp_path / "export.jsonl"), "--key", str(tmp_path / "log.pub")]
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert run(command) == 0
    told = capsys.readouterr()
    assert ("completeness is not: other records" in told.out + told.err) == bool(query)


@pytest.mark.proves("governance.analytics.reports")
def test_a_usage_report_is_exported_for_a_spreadsheet(organisation: ServedOrganisation) -> None:
    data = {"skill": "=HYPERLINK(1)", "team": "platform"}
    SharedAuditLog(organisation.server.database.of_tenant("default")).append(AuditEvent(kind="skill.loaded", data=data))
    organisation.sequence()
    answer = Visitor(organisation, "approver").client.get("/usage/export?by=skill,team&days=7")
    first, *rows = csv.DictReader(io.StringIO(answer.text))
    assert {"skill", "digest", "team", "activations", "refusals", "tokens"} <= first.keys()
    assert "'=HYPERLINK(1)" in {row["skill"] for row in (first, *rows)}
    assert sum(int(row["activations"]) for row in (first, *rows)) > 1


def test_a_policy_with_faults_comes_back_with_each_of_them(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    text = '[[rule]]\neffect = "perhaps"\n'
    answer = visitor.send("/policies/new", "/policies/check", name="faulty", toml=text, act="push")
    assert answer.status_code == 400
    assert "effect" in answer.text
    assert "perhaps" in answer.text


@pytest.mark.proves("governance.beyond.visual-builder")
def test_a_skill_that_passes_all_checks_is_offered_as_a_download(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "author")
    fields = {"name": "sales-report", "description": "Writes the sales report. Use it for questions about sales."}
    answer = visitor.send("/write", "/write/download", body="Read the figures, then write.\n", **fields)
    assert answer.headers["content-disposition"] == 'attachment; filename="SKILL.md"'
    assert answer.text.startswith("---\nname: sales-report\n")
    refused = visitor.send("/write", "/write/download", body="text", name="Sales Report", description="x")
    assert refused.status_code == 400
    assert "does not pass yet" in refused.text


def test_what_other_people_wrote_is_shown_as_text(organisation: ServedOrganisation) -> None:
    visitor = Visitor(organisation, "administrator")
    checked = visitor.send("/write", "/write", name=HOSTILE, description=HOSTILE, body=HOSTILE)
    filtered = visitor.client.get("/audit", params={"skill": HOSTILE}).text
    for text in (checked.text, filtered):
        assert "<script>alert" not in text
        assert "62710561" not in text  # the product; a shorter one is in some random token
        assert "\x00" not in text
    shown = re.sub(r"<textarea.*?</textarea>|value=\"[^\"]*\"", "", checked.text, flags=re.DOTALL)
    assert "\u202e" not in shown


@pytest.mark.parametrize("role", ROLES)
def test_a_person_sees_the_pages_that_the_role_permits_and_no_others(
    organisation: ServedOrganisation, role: str
) -> None:
    visitor = Visitor(organisation, role)
    status, home = visitor.get("/")
    assert status == 200
    shown = set(re.findall(r'<li><a href="(/\w+)"', home))
    for _, entries in NAVIGATION:
        for entry in entries:
            status, _ = visitor.get(entry.path)
            assert (status == 200) == (entry.path in shown), entry.path
    for path in {path for path, _ in PAGES} & sample_paths().keys():
        status, _ = visitor.get(sample_paths()[path] or "/approvals")
        assert status in {200, 403}, path


@pytest.mark.parametrize(
    "path", ["/nothing", "/audit/999999", "/audit/x", "/sessions/one?id=x", "/policies/one?name=x"]
)
def test_what_is_not_there_is_a_page_that_tells_what_to_do(organisation: ServedOrganisation, path: str) -> None:
    status, text = Visitor(organisation, "administrator").get(path)
    assert status == 404
    assert "Choose a page in the navigation" in text


@pytest.mark.parametrize("query", ["since=yesterday", "cursor=x", "outcome=perhaps"])
def test_a_wrong_parameter_is_a_page_that_names_it(organisation: ServedOrganisation, query: str) -> None:
    status, text = Visitor(organisation, "administrator").get(f"/audit?{query}")
    assert status == 400
    assert "This request is not valid" in text
