"""Sites with an index of skills: versions 0.2.0 and 0.1, real servers, and indexes that are wrong."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.distribution.publishing.packing import pack, read_skill_files
from prowess.distribution.sources.index.document import SCHEMA, parse_index
from prowess.distribution.sources.opening import open_source
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError, IntegrityError, LimitExceededError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference
from tests.distribution.making import files_of, make_skill
from tests.distribution.serving import Answer, Site, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prowess.distribution.sources.protocol import Fetched, SkillSource

INDEX = "/.well-known/agent-skills/index.json"
LEGACY = "/.well-known/skills/index.json"


def opened(text: str, tmp_path: Path, access: Access | None = None) -> SkillSource:
    """Open a source with private directories."""
    for name in ("scratch", "into"):
        (tmp_path / name).mkdir(exist_ok=True)
    return open_source(parse_reference(text), scratch=str(tmp_path / "scratch"), access=access)


def fetched(source: SkillSource, tmp_path: Path, version: str | None = None) -> Fetched:
    """Fetch the only skill of a source."""
    (offer,) = source.offers(version)
    return source.fetch(offer, str(tmp_path / "into"))


def entry(data: bytes, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 -- values of JSON
    """Return an entry for the archive of the skill pdf."""
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    whole = {"name": "pdf", "type": "archive", "description": "Reads.", "url": "pdf.tar.gz", "digest": digest, **keys}
    return {key: value for key, value in whole.items() if value is not None}


def index(*entries: object, **keys: object) -> Answer:
    """Return an index 0.2.0."""
    return Answer(json.dumps({"$schema": SCHEMA, "skills": entries, **keys}).encode())


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """Return the skill pdf."""
    return make_skill(tmp_path, "pdf")


@pytest.fixture
def archive(skill: Path) -> bytes:
    """Return the archive of the skill pdf."""
    return pack(read_skill_files(str(skill)).files)


@pytest.fixture
def site(archive: bytes) -> Iterator[Site]:
    """Return a server with the skill pdf."""
    with serving({INDEX: index(entry(archive)), "/.well-known/agent-skills/pdf.tar.gz": Answer(archive)}) as running:
        yield running


def test_a_skill_is_fetched_byte_for_byte(site: Site, skill: Path, tmp_path: Path) -> None:
    with opened(site.url, tmp_path) as source:
        copy = fetched(source, tmp_path)
        assert (copy.name, copy.version, copy.source) == ("pdf", "1.0.0", site.url)
        assert source.contacted == (site.host,)
    assert files_of(tmp_path / "into" / "pdf") == files_of(skill)
    assert site.paths() == [INDEX, "/.well-known/agent-skills/pdf.tar.gz"]


@pytest.mark.parametrize("path", [INDEX, "/.well-known/agent-skills", "/.well-known/agent-skills/", "/"])
def test_a_site_may_be_named_by_its_index(site: Site, tmp_path: Path, path: str) -> None:
    with opened(site.url + path, tmp_path) as source:
        assert fetched(source, tmp_path).name == "pdf"


def test_a_zip_and_a_single_file_are_read_too(site: Site, skill: Path, tmp_path: Path) -> None:
    text = (skill / "SKILL.md").read_bytes()
    zipped = pack(read_skill_files(str(skill)).files, "zip")
    site.answers |= {"/a/pdf": Answer(zipped), "/SKILL.md": Answer(text)}
    site.answers[INDEX] = index(entry(zipped, url="/a/pdf"))
    with opened(site.url, tmp_path) as source:
        fetched(source, tmp_path)
    assert files_of(tmp_path / "into" / "pdf") == files_of(skill)
    site.answers[INDEX] = index(entry(text, url="/SKILL.md", type="skill-md"))
    (tmp_path / "one").mkdir()
    with opened(site.url, tmp_path / "one") as source:
        fetched(source, tmp_path / "one")
    assert list(files_of(tmp_path / "one" / "into" / "pdf")) == ["SKILL.md"]


def test_versions_are_offered_newest_first_and_yanked_ones_only_by_name(
    site: Site, archive: bytes, tmp_path: Path
) -> None:
    rows = [
        {"version": "1.10.0", "url": "c", "digest": f"sha256:{'c' * 64}", "yanked": True},
        {"version": "1.9.0", "url": "b", "digest": f"sha256:{'b' * 64}", "requires": ["mail@^1"]},
    ]
    site.answers[INDEX] = index(entry(archive, version="1.0.0", versions=rows))
    with opened(site.url, tmp_path) as source:
        assert source.versions() == ("1.10.0", "1.9.0", "1.0.0")
        (newest,) = source.offers()
        assert (newest.version, newest.requires, newest.yanked) == ("1.9.0", ("mail@^1",), False)
        assert source.offers("1.10.0")[0].yanked
        assert fetched(source, tmp_path, "1.0.0").version == "1.0.0"
        with pytest.raises(DistributionError, match=r"no skill with the version '2\.0\.0'; versions there: 1"):
            source.offers("2.0.0")


def test_version_0_1_is_read_file_by_file(site: Site, skill: Path, tmp_path: Path) -> None:
    del site.answers[INDEX]
    files = files_of(skill)
    row = {"name": "pdf", "description": "Reads.", "files": list(files)}
    site.answers[LEGACY] = Answer(json.dumps({"skills": [row]}).encode())
    for path, (data, _) in files.items():
        site.answers[f"/.well-known/skills/pdf/{path.replace('ö', '%C3%B6').replace('ß', '%C3%9F')}"] = Answer(data)
    with opened(site.url, tmp_path) as source:
        assert fetched(source, tmp_path).artifact is None
    assert {path: data for path, (data, _) in files_of(tmp_path / "into" / "pdf").items()} == {
        path: data for path, (data, _) in files.items()
    }


def test_a_file_of_version_0_1_that_is_missing_leaves_nothing(site: Site, tmp_path: Path) -> None:
    row = {"name": "pdf", "description": "Reads.", "files": ["SKILL.md", "gone.md"]}
    site.answers |= {INDEX: Answer(json.dumps({"skills": [row]}).encode())}
    site.answers["/.well-known/agent-skills/pdf/SKILL.md"] = Answer(b"---\nname: pdf\ndescription: x\n---\n")
    with opened(site.url, tmp_path) as source, pytest.raises(DistributionError, match=r"gone\.md.*does not exist"):
        fetched(source, tmp_path)
    assert list((tmp_path / "into").iterdir()) == []


def test_every_flipped_byte_of_an_artifact_is_refused_before_it_is_unpacked(
    site: Site, archive: bytes, tmp_path: Path
) -> None:
    with opened(site.url, tmp_path) as source:
        (offer,) = source.offers()
        for at in range(0, len(archive), max(1, len(archive) // 60)):
            body = bytearray(archive)
            body[at] ^= 1
            site.answers["/.well-known/agent-skills/pdf.tar.gz"] = Answer(bytes(body))
            with pytest.raises(IntegrityError):
                source.fetch(offer, str(tmp_path / "into"))
            assert list((tmp_path / "into").iterdir()) == []


def test_an_artifact_on_another_host_is_refused_unless_allowed(site: Site, archive: bytes, tmp_path: Path) -> None:
    with serving({"/pdf.tar.gz": Answer(archive)}) as store:
        site.answers[INDEX] = index(entry(archive, url=f"{store.url}/pdf.tar.gz"))
        with opened(site.url, tmp_path) as source, pytest.raises(DistributionError, match="--allow-host"):
            fetched(source, tmp_path)
        assert store.asked == []
        with opened(site.url, tmp_path, Access(redirect_hosts=(store.host,))) as source:
            fetched(source, tmp_path)


def test_a_faulty_entry_is_left_out_with_its_reason_and_the_others_are_used(
    site: Site, archive: bytes, tmp_path: Path
) -> None:
    faulty: list[tuple[object, str]] = [
        (3, "no object"),
        (entry(archive, name="PDF"), "`name`"),
        (entry(archive, name="a--b"), "`name`"),
        (entry(archive, name="../x"), "`name`"),
        (entry(archive, name="b", description=""), "`description`"),
        (entry(archive, name="c", description="x" * 1025), "`description`"),
        (entry(archive, name="d", type="exe"), "`type`"),
        (entry(archive, name="e", url=None), "`url`"),
        (entry(archive, name="f", digest="sha256:AB"), "`digest`"),
        (entry(archive), "twice"),
    ]
    site.answers[INDEX] = index(entry(archive, extra=1), *(row for row, _ in faulty))
    with opened(site.url, tmp_path) as source:
        assert [offer.name for offer in source.offers()] == ["pdf"]
        assert len(source.problems) == len(faulty)
        for problem, (_, reason) in zip(source.problems, faulty, strict=True):
            assert reason in problem


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "not JSON"),
        (b"[]", "no list `skills`"),
        (b'{"skills": {}}', "no list `skills`"),
        (b'{"skills": [], "skills": []}', "twice"),
        (b'{"$schema": "https://schemas.agentskills.io/discovery/0.3.0/schema.json", "skills": []}', "unknown schema"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_what_is_no_index_is_refused_in_one_sentence(site: Site, tmp_path: Path, body: bytes, reason: str) -> None:
    site.answers[INDEX] = Answer(body)
    with opened(site.url, tmp_path) as source, pytest.raises(DistributionError, match=reason):
        source.offers()


def test_a_site_without_an_index_is_named_with_the_places_that_were_tried(tmp_path: Path) -> None:
    with (
        serving() as site,
        opened(f"{site.url}/team", tmp_path) as source,
        pytest.raises(DistributionError, match="has no index of skills"),
    ):
        source.offers()
    assert site.paths() == [f"/team{INDEX}", f"/team{LEGACY}"]  # never the index of the whole host


def test_another_skill_than_promised_is_refused_and_removed(site: Site, archive: bytes, tmp_path: Path) -> None:
    site.answers[INDEX] = index(entry(archive, name="xlsx"))
    with opened(site.url, tmp_path) as source, pytest.raises(DistributionError, match="is not the skill 'xlsx'"):
        fetched(source, tmp_path)
    assert list((tmp_path / "into").iterdir()) == []


def test_an_index_that_is_too_large_is_left(site: Site, tmp_path: Path) -> None:
    site.answers[INDEX] = Answer(b" " * (17 << 20))
    with opened(site.url, tmp_path) as source, pytest.raises(LimitExceededError):
        source.offers()


@pytest.mark.parametrize("url", ["http://[", "file:///etc/passwd", "//[x]/pdf.tar.gz", "http://169.254.169.254/a.zip"])
def test_an_artifact_at_an_unsafe_url_is_refused(site: Site, archive: bytes, tmp_path: Path, url: str) -> None:
    site.answers[INDEX] = index(entry(archive, url=url))
    with opened(site.url, tmp_path) as source, pytest.raises(UnsafePathError):
        fetched(source, tmp_path)


def test_of_two_artifacts_of_one_version_the_first_is_kept(archive: bytes) -> None:
    other = entry(b"other", version="1.0.0")
    (found,) = parse_index(index(entry(archive, version="1.0.0", versions=[other])).body, "it").entries
    assert [artifact.digest for artifact in found.artifacts] == [entry(archive)["digest"]]


def test_an_index_with_very_many_versions_is_read_in_time(archive: bytes) -> None:
    versions = [entry(archive, version=f"draft-{number}") for number in range(10_000)]
    (found,) = parse_index(index(entry(archive, versions=versions * 2)).body, "it").entries
    assert len(found.artifacts) == 1 + len(versions)


def test_offline_nothing_is_contacted(site: Site, tmp_path: Path) -> None:
    with opened(site.url, tmp_path, Access(offline=True)) as source, pytest.raises(UnavailableError, match="offline"):
        source.offers()
    assert site.asked == []


@pytest.mark.parametrize("url", ["../../outside", "/etc/passwd", "https://example.com/pdf", "link", "//[", "inside?x"])
def test_an_index_in_a_directory_never_leads_out_of_it(archive: bytes, tmp_path: Path, url: str) -> None:
    beside = tmp_path / "registry/.well-known/agent-skills"
    beside.mkdir(parents=True)
    (tmp_path / "outside").write_bytes(archive)
    (beside / "inside").write_bytes(archive)
    (beside / "link").symlink_to(tmp_path / "outside")
    (beside / "index.json").write_bytes(index(entry(archive, url=url)).body)
    with (
        opened(str(tmp_path / "registry"), tmp_path) as source,
        pytest.raises((DistributionError, UnsafePathError)),
    ):
        fetched(source, tmp_path)
