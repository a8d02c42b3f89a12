"""Skills of installed Python distributions: found by their records, held back, compared with what was recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer, TrustStore
from prowess.catalog.scan import Scan
from prowess.catalog.sources.packages.package import PackageSource
from prowess.catalog.trust import TrustedPackage
from prowess.errors import SkillNotFoundError, SkillParseError
from tests.catalog.installing import bare_project, install, record_row, site_of, skill_text
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path

REPORT = "acme/.agents/skills/report"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return bare_project(tmp_path, monkeypatch)


@pytest.fixture
def site(project: Path) -> Path:
    return site_of(project / ".venv")


def acme(site: Path, **given: object) -> Path:
    """Install a distribution with one skill that has a script."""
    files = {f"{REPORT}/SKILL.md": skill_text("report"), f"{REPORT}/scripts/make.py": "print('made')\n"}
    return install(site, "acme", files, **given)  # type: ignore[arg-type]  # options of `install`


def trust(name: str = "acme") -> None:
    for source in packages():
        if source.package.name == name and source.is_trustable:
            package = source.package
            TrustStore().trust_package(
                TrustedPackage(kind=package.kind, name=name, version=package.version, record=package.record)
            )


def packages() -> list[PackageSource]:
    from prowess.catalog.project import default_sources

    groups = [source for source in default_sources(os.getcwd(), ()) if hasattr(source, "parts")]
    return [part for group in groups for part in group.parts(Scan()) if isinstance(part, PackageSource)]


@pytest.mark.proves("catalog.package.held-back")
def test_skills_of_packages_are_held_back_with_one_notice_that_names_each(project: Path, site: Path) -> None:
    acme(site)
    install(site, "beta-kit", {"beta_kit/skills/plan/SKILL.md": skill_text("plan")}, version="2.1")
    catalog = Catalog.discover(cwd=project)
    assert catalog.all_entries() == ()
    (notice,) = catalog.notices
    assert notice.code == "package_untrusted"
    assert "acme 1.0 (report)" in notice.message
    assert "beta-kit 2.1 (plan)" in notice.message
    assert "prowess trust --package NAME" in notice.message
    with pytest.raises(SkillNotFoundError, match="prowess trust --package beta-kit"):
        catalog.get("plan")
    trust("beta-kit")
    catalog.refresh()
    assert names(catalog.entries()) == ["plan"]
    assert "beta-kit" not in catalog.notices[0].message


@pytest.mark.proves("governance.layers.plugin.path")
def test_a_trusted_package_is_a_source_of_the_plugin_layer_under_its_name(project: Path, site: Path) -> None:
    acme(site)
    write_skill(project / ".prowess" / "skills" / "report", description="Ours.")
    trust()
    catalog = Catalog.discover(cwd=project, trust_project=True)
    assert catalog.get("report").description == "Ours."
    theirs = catalog.get("report@acme")
    assert (theirs.layer, theirs.source) == (Layer.PLUGIN, "acme")
    assert catalog.skill("report", theirs.location).body.strip() == "# Do it"


@pytest.mark.proves("catalog.package.bound")
@pytest.mark.parametrize("changed", ["version", "record"])
def test_another_version_or_record_is_held_back_again(project: Path, site: Path, changed: str) -> None:
    info = acme(site)
    trust()
    assert names(Catalog.discover(cwd=project).entries()) == ["report"]
    if changed == "version":
        for path in info.iterdir():
            path.unlink()
        info.rmdir()
        acme(site, version="1.1")
    else:
        acme(site, metadata={"extra.txt": "more"})
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    told = {"version": "version 1.0 of it is trusted", "record": "another record of this version is trusted"}
    assert told[changed] in catalog.notices[0].message
    trust()
    catalog.refresh()
    assert names(catalog.entries()) == ["report"]


@pytest.mark.proves("catalog.package.verified")
def test_one_changed_byte_in_skill_md_keeps_the_skill_out_of_the_list(project: Path, site: Path) -> None:
    acme(site)
    install(site, "beta", {"beta/skills/plan/SKILL.md": skill_text("plan")})
    trust()
    trust("beta")
    document = site / REPORT / "SKILL.md"
    document.write_bytes(document.read_bytes().replace(b"# Do it", b"# Do is"))
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["plan"]
    found = finding(catalog, "catalog.package")
    assert found.skill == "report"
    assert "is not the file that acme 1.0 recorded" in found.message
    assert found.location.path == str(document)


@pytest.mark.proves("catalog.package.every-file")
@pytest.mark.parametrize("change", ["byte", "added", "removed", "link"])
def test_a_load_refuses_a_skill_of_which_any_file_differs(project: Path, site: Path, change: str) -> None:
    acme(site)
    trust()
    catalog = Catalog.discover(cwd=project)
    assert catalog.skill("report").manifest.find("scripts/make.py") is not None
    script = site / REPORT / "scripts" / "make.py"
    match change:
        case "byte":
            script.write_bytes(script.read_bytes().replace(b"made", b"mad3"))
        case "added":
            (script.parent / "more.py").write_text("print('more')\n")
        case "removed":
            script.unlink()
        case _:
            (script.parent / "more.py").symlink_to("/etc/hostname")
    assert names(catalog.entries()) == ["report"]
    with pytest.raises(SkillParseError) as refused:
        catalog.skill("report")
    assert [found.rule for found in refused.value.diagnostics] == ["catalog.package"]


def test_compiled_files_that_no_installer_records_are_no_part_of_a_skill(project: Path, site: Path) -> None:
    cache = f"{REPORT}/scripts/__pycache__/make.cpython-311.pyc"
    acme(site, rows=([cache, "", ""],))
    (site / cache).parent.mkdir()
    (site / cache).write_bytes(b"compiled")
    trust()
    skill = Catalog.discover(cwd=project).skill("report")
    assert [file.path for file in skill.manifest.files] == ["SKILL.md", "scripts/make.py"]


def test_files_with_a_second_hard_link_are_listed_and_loaded(project: Path, site: Path, tmp_path: Path) -> None:
    acme(site)
    trust()
    os.link(site / REPORT / "SKILL.md", tmp_path / "cached")
    os.link(site / REPORT / "scripts" / "make.py", tmp_path / "script")
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["report"]
    skill = catalog.skill("report")
    assert skill.digest is not None
    assert len(skill.manifest.files) == 2


def test_front_matter_that_needs_the_full_parser_is_read_from_the_compared_bytes(project: Path, site: Path) -> None:
    text = skill_text("odd", extra="metadata: {a: 'b'}\n")
    install(site, "acme", {"acme/skills/odd/SKILL.md": text})
    os.link(site / "acme/skills/odd/SKILL.md", site / "second")
    trust()
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["odd"]
    assert catalog.get("odd").properties["metadata"] == {"a": "b"}
    assert catalog.skill("odd").frontmatter.metadata["a"] == "b"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"record": False}, "it has no RECORD"),
        ({"hashes": False}, "its RECORD has no hashes"),
        ({"called": "other"}, "its METADATA is missing, is not as it was recorded, or has another name"),
    ],
)
def test_a_package_without_a_usable_record_is_held_back_with_the_reason(
    project: Path, site: Path, given: dict[str, object], told: str
) -> None:
    acme(site, **given)
    trust()
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    (notice,) = catalog.notices
    assert f"acme 1.0 (report; {told}" in notice.message
    assert "prowess trust" not in notice.message


@pytest.mark.parametrize("kind", ["link", "pipe", "directory", "huge"])
def test_a_record_that_is_not_a_file_of_reasonable_size_is_not_read(
    project: Path, site: Path, tmp_path: Path, kind: str
) -> None:
    record = acme(site) / "RECORD"
    text = record.read_bytes()
    record.unlink()
    match kind:
        case "link":
            (tmp_path / "elsewhere").write_bytes(text)
            record.symlink_to(tmp_path / "elsewhere")
        case "pipe":
            os.mkfifo(record)
        case "directory":
            record.mkdir()
        case _:
            record.write_bytes(text)
            os.truncate(record, 1 << 30)
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert "RECORD" in catalog.notices[0].message


def test_rows_that_lead_out_of_the_environment_are_left_out(project: Path, site: Path, tmp_path: Path) -> None:
    outside = write_skill(tmp_path / "outside" / ".agents" / "skills" / "evil")
    data = (outside / "SKILL.md").read_bytes()
    climbing = os.path.relpath(outside / "SKILL.md", site)
    acme(site, rows=(record_row(climbing, data), record_row(str(outside / "SKILL.md"), data)))
    (site / "acme" / "skills").symlink_to(tmp_path / "outside" / ".agents" / "skills")
    acme(site, rows=(record_row(climbing, data), record_row("acme/skills/evil/SKILL.md", data)))
    trust()
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["report"]
    told = [found.message for found in catalog.diagnostics if found.rule == "catalog.package"]
    assert len(told) == 2
    assert "1 skill of the record outside of the environment left out" in told[0]
    assert "is a symbolic link" in told[1]


def test_entry_points_name_modules_that_are_looked_up_and_never_imported(project: Path, site: Path) -> None:
    lines = ["[agent_skills]", "a = acme.knowledge", "b = ../../outside", "c = /etc:x", "d = acme..x", "e =", "=f"]
    install(
        site,
        "acme",
        {"acme/__init__.py": "raise SystemExit\n", "acme/knowledge/deep/tidy/SKILL.md": skill_text("tidy")},
        metadata={"entry_points.txt": "\n".join(lines) + "\n[console_scripts]\ng = acme.other\n"},
    )
    trust()
    assert names(Catalog.discover(cwd=project).entries()) == ["tidy"]


@pytest.mark.parametrize("where", ["acme/tests/skills/a", "acme/docs-x/skills/a", "skills/a", "acme/skills/a/b/c/d"])
def test_skill_files_at_other_places_are_no_skills_of_the_package(project: Path, site: Path, where: str) -> None:
    install(site, "acme", {f"{where}/SKILL.md": skill_text("a")})
    catalog = Catalog.discover(cwd=project)
    assert catalog.notices == ()
    assert catalog.diagnostics == ()


@pytest.mark.proves("catalog.package.no-import")
def test_a_package_whose_init_leaves_a_mark_is_listed_without_leaving_one(
    project: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    code = f"open({str(mark)!r}, 'w').close()\n"
    install(
        site,
        "acme",
        {
            "acme/__init__.py": code,
            "acme.pth": f"import os; {code}",
            "sitecustomize.py": code,
            f"{REPORT}/SKILL.md": skill_text("report"),
            "acme/more/skill/SKILL.md": skill_text("skill"),
        },
        metadata={"entry_points.txt": "[agent_skills]\nmore = acme.more\n"},
    )
    trust()
    monkeypatch.setenv("VIRTUAL_ENV", str(project / ".venv"))
    told = subprocess.run(
        [sys.executable, "-m", "prowess", "list"], cwd=project, capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in told.stdout.splitlines()] == ["report", "skill"]
    assert not mark.exists()


def test_a_package_at_several_places_is_taken_from_the_nearest(
    project: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "other"))
    acme(site_of(tmp_path / "other"), version="3.0")
    acme(site)
    (project / "pkg").mkdir()
    catalog = Catalog.discover(cwd=project / "pkg")
    assert "acme 1.0" in catalog.notices[0].message
    assert "3.0" not in catalog.notices[0].message
    assert rules(catalog) == []


@pytest.mark.parametrize("name", ["enterprise", "plugin", "prowess"])
def test_a_package_called_like_a_layer_gets_another_label(project: Path, site: Path, name: str) -> None:
    install(site, name, {f"{name}/skills/deploy/SKILL.md": skill_text("deploy")})
    trust(name)
    catalog = Catalog.discover(cwd=project)
    assert catalog.get("deploy").source == f"python:{name}"
    with pytest.raises(SkillNotFoundError):
        catalog.get(f"deploy@{name}")


def test_names_with_control_characters_are_of_no_package(project: Path, site: Path) -> None:
    info = site / "evil\x1b[31m-1.0.dist-info"
    info.mkdir()
    (site / "evil\x1b[31m" / "skills" / "a").mkdir(parents=True)
    write_skill(site / "evil\x1b[31m" / "skills" / "a")
    (info / "RECORD").write_text("evil\x1b[31m/skills/a/SKILL.md,,\n")
    install(site, "acme", {"acme/skills/a\x1b[31m/SKILL.md": skill_text("a")}, called="acme\x1b[31m")
    catalog = Catalog.discover(cwd=project)
    assert "\x1b" not in catalog.notices[0].message


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_a_package_of_another_user_is_held_back(project: Path, site: Path) -> None:
    os.chown(acme(site), 12345, 12345)
    trust()
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert "belongs to another user" in catalog.notices[0].message


def test_an_editable_package_inside_the_project_follows_the_trust_in_the_project(project: Path, site: Path) -> None:
    write_skill(project / "src" / "acme" / ".agents" / "skills" / "report")
    url = f'{{"url": "file://{project}", "dir_info": {{"editable": true}}}}'
    install(site, "acme", {"__editable__.acme.pth": f"{project}/src\n"}, metadata={"direct_url.json": url})
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert [notice.code for notice in catalog.notices] == ["project_untrusted"]
    TrustStore().trust(str(project))
    catalog.refresh()
    assert catalog.get("report@acme").layer is Layer.PLUGIN


def test_an_editable_package_elsewhere_is_held_back_with_the_reason(project: Path, site: Path, tmp_path: Path) -> None:
    write_skill(tmp_path / "work" / "acme" / "skills" / "report")
    url = f'{{"url": "file://{tmp_path}/work", "dir_info": {{"editable": true}}}}'
    install(site, "acme", {"acme.pth": f"{tmp_path}/work\n"}, metadata={"direct_url.json": url})
    trust()
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert f"it is installed from {tmp_path}/work" in catalog.notices[0].message


def test_an_unreadable_trust_store_means_that_no_package_is_trusted(project: Path, site: Path) -> None:
    acme(site)
    trust()
    os.chmod(TrustStore().path, 0o666)
    assert Catalog.discover(cwd=project).entries() == ()


def test_unchanged_packages_keep_their_entries_at_a_refresh(project: Path, site: Path) -> None:
    acme(site)
    trust()
    catalog = Catalog.discover(cwd=project)
    before, generation = catalog.get("report"), catalog.generation
    catalog.refresh()
    assert catalog.get("report") is before
    assert catalog.generation == generation


def test_two_distributions_with_one_name_in_one_environment_are_held_back(project: Path, site: Path) -> None:
    acme(site)
    acme(site, version="2.0")
    trust()
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    assert "has two packages with this name" in catalog.notices[0].message


def test_a_new_package_and_a_new_trust_are_seen_by_a_catalog_that_looks_again(project: Path, site: Path) -> None:
    catalog = Catalog.discover(cwd=project)
    assert catalog.entries() == ()
    acme(site)
    catalog.look_again()
    assert [notice.code for notice in catalog.notices] == ["package_untrusted"]
    trust()
    catalog.look_again()
    assert names(catalog.entries()) == ["report"]
    TrustStore().revoke_package(("python", "acme"))
    catalog.look_again()
    assert catalog.entries() == ()


@pytest.mark.parametrize("index", [True, False])
def test_the_comparison_is_made_at_each_listing_with_a_warm_index_too(
    project: Path, site: Path, *, index: bool
) -> None:
    acme(site)
    trust()
    document = site / REPORT / "SKILL.md"
    for _ in range(2):
        assert names(Catalog.discover(cwd=project, index=index).entries()) == ["report"]
    before = document.stat()
    document.write_bytes(document.read_bytes().replace(b"# Do it", b"# Do is"))
    os.utime(document, ns=(before.st_atime_ns, before.st_mtime_ns))
    catalog = Catalog.discover(cwd=project, index=index)
    assert catalog.entries() == ()
    assert rules(catalog) == ["catalog.package"]
    assert Catalog.discover(cwd=project, index=index).find("report") is None


def test_distributions_without_skills_are_nothing_to_report(project: Path, site: Path) -> None:
    for number in range(300):
        install(site, f"lib{number}", {f"lib{number}/__init__.py": ""})
    (site / "not-a-directory.dist-info").write_text("")
    (site / "broken.dist-info").symlink_to("nowhere")
    (site / "round.dist-info").symlink_to(site)
    catalog = Catalog.discover(cwd=project)
    assert (catalog.entries(), catalog.notices, catalog.diagnostics) == ((), (), ())


def test_a_package_that_is_held_back_is_named_whatever_its_files_are(project: Path, site: Path) -> None:
    acme(site)
    (site / REPORT / "SKILL.md").unlink()
    os.mkfifo(site / REPORT / "SKILL.md")
    catalog = Catalog.discover(cwd=project)
    assert "acme 1.0 (report)" in catalog.notices[0].message
    assert catalog.diagnostics == ()


def test_the_notice_does_not_name_a_held_back_skill_outside_the_viewers_scope(project: Path, site: Path) -> None:
    acme(site)
    scoped = skill_text("secret", extra="scope:\n  agents: reviewer\n")
    install(site, "beta", {"beta/skills/secret/SKILL.md": scoped})
    os.link(site / "beta/skills/secret/SKILL.md", site / "second")
    (notice,) = Catalog.discover(cwd=project).notices
    assert "acme 1.0 (report)" in notice.message
    assert "beta" not in notice.message
    assert "secret" not in notice.message
    (notice,) = Catalog.discover(cwd=project, agent="reviewer").notices
    assert "beta 1.0 (secret)" in notice.message


def test_more_skills_than_the_limit_are_counted(project: Path, site: Path) -> None:
    install(site, "acme", {f"acme/skills/s{number:04}/SKILL.md": "" for number in range(1003)})
    trust()
    found = [one for one in Catalog.discover(cwd=project).diagnostics if "left out: at most" in one.message]
    assert [one.message for one in found] == ["3 skills of this package are left out: at most 1000 are used"]


@pytest.mark.parametrize(
    "row",
    [
        b"acme/skills/" + b"x" * 200_000 + b"/SKILL.md,,\n",
        b'"acme/skills/a/SKILL.md,sha256=x,1\n',
        b"acme/skills/\0/SKILL.md,,\n",
        b"acme/skills/\xff\xfe/SKILL.md,sha256=" + b"A" * 43 + b",1\n",
        b"acme/skills/a/SKILL.md\n",
        b"acme/skills/a/SKILL.md,sha256=" + b"!" * 43 + b",1\n",
        b"acme/skills//a/./SKILL.md,,\n",
        b",,\n,\n\n\r\n",
    ],
)
def test_odd_rows_of_a_record_take_nothing_else_down(project: Path, site: Path, row: bytes) -> None:
    record = acme(site) / "RECORD"
    record.write_bytes(record.read_bytes() + row)
    install(site, "beta", {"beta/skills/plan/SKILL.md": skill_text("plan")})
    trust()
    trust("beta")
    assert names(Catalog.discover(cwd=project).entries()) == ["plan", "report"]


@pytest.mark.parametrize("text", ["[", "[" * 100_000, '{"dir_info": 7}', '{"url": "file:///x\\u0000"}', '["editable"]'])
def test_an_odd_direct_url_is_ignored(project: Path, site: Path, text: str) -> None:
    acme(site, metadata={"direct_url.json": text.replace("{", '{"x": "editable", ') + '\n"editable"'})
    trust()
    assert names(Catalog.discover(cwd=project).entries()) == ["report"]


def test_a_package_that_is_upgraded_while_it_is_used_is_not_read_any_more(project: Path, site: Path) -> None:
    acme(site)
    trust()
    catalog = Catalog.discover(cwd=project)
    catalog.skill("report")
    info = site / "acme-1.0.dist-info"
    info.rename(site / "acme-2.0.dist-info")
    (site / REPORT / "SKILL.md").write_text(skill_text("report", "New."))
    with pytest.raises(SkillNotFoundError, match="acme"):
        catalog.skill("report")
