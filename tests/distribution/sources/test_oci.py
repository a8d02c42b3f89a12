"""Skills in container registries: Debian's docker-registry, and a server that lies."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.publishing.container_registry import publish_to_registry
from prowess.distribution.publishing.oci_artifact import oci_artifact
from prowess.distribution.publishing.package import read_package
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.oci.manifest import INDEX_TYPE, MANIFEST_TYPE, Descriptor, canonical_json
from prowess.distribution.sources.oci.registry import Repository, check_blob
from prowess.distribution.sources.opening import open_source
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError, IntegrityError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference
from tests.distribution.making import files_of, make_skill
from tests.distribution.referrers import add_bundle
from tests.distribution.registries import PASSWORD, USER, docker_registry
from tests.distribution.serving import Answer, Asked, serving

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prowess.distribution.publishing.directory_registry import Published
    from prowess.distribution.sources.protocol import Fetched, SkillSource
    from tests.distribution.serving import Site


def opened(text: str, tmp_path: Path, access: Access | None = None) -> SkillSource:
    """Open a source with fresh private directories."""
    for name in ("scratch", "into"):
        (tmp_path / name).mkdir(exist_ok=True)
    return open_source(parse_reference(text), scratch=str(tmp_path / "scratch"), access=access)


def fetched(text: str, tmp_path: Path, version: str | None = None) -> Fetched:
    """Fetch the only skill of a source."""
    with opened(text, tmp_path) as source:
        (offer,) = source.offers(version)
        return source.fetch(offer, str(tmp_path / "into"))


def push(location: str, skills: Sequence[Path]) -> tuple[Published, ...]:
    """Publish skills to a registry."""
    with HttpClient() as client:
        return publish_to_registry([read_package(str(skill)) for skill in skills], location, client)


def test_a_published_skill_is_fetched_byte_for_byte_in_each_version(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "pdf", "1.2.0")
    with docker_registry(tmp_path / "registry") as host:
        (first,) = push(f"{host}/acme", [skill])
        make_skill(tmp_path, "pdf", "1.10.0+b", body="Newer.")
        push(f"{host}/acme", [skill])
        with opened(f"oci://{host}/acme/pdf", tmp_path) as source:
            assert source.versions() == ("1.10.0+b", "1.2.0")
            (newest,) = source.offers()
            assert (newest.name, newest.version, newest.package) == ("pdf", "1.10.0+b", "acme")
            assert newest.requires == ()
            copy = source.fetch(newest, str(tmp_path / "into"))
            assert source.contacted == (host,)
        assert files_of(tmp_path / "into" / "pdf") == files_of(skill)
        assert copy.tree == read_package(str(skill)).contents.tree
        (tmp_path / "old").mkdir()
        old = fetched(f"oci://{host}/acme/pdf@1.2.0", tmp_path / "old", "1.2.0")
        assert old.artifact == first.artifact
        assert fetched(f"oci://{host}/acme/pdf", make_place(tmp_path, "by-digest"), first.artifact).tree == old.tree


def make_place(tmp_path: Path, name: str) -> Path:
    """Return a new directory."""
    (tmp_path / name).mkdir()
    return tmp_path / name


def test_a_version_never_changes(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "pdf")
    other = make_skill(tmp_path, "xlsx")
    with docker_registry(tmp_path / "registry") as host:
        assert [row.status for row in push(f"{host}/acme", [skill])] == ["published"]
        assert [row.status for row in push(f"{host}/acme", [skill])] == ["unchanged"]
        make_skill(tmp_path, "pdf", body="Changed.")
        with pytest.raises(DistributionError, match=r"published with other bytes.*metadata\.version"):
            push(f"{host}/acme", [other, skill])
        with HttpClient() as client:
            assert Repository(f"{host}/acme/xlsx", client).tags() == []  # nothing of the call was pushed


def _login(home: Path, host: str, password: str) -> None:
    (home / ".docker").mkdir()
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    (home / ".docker" / "config.json").write_text(json.dumps({"auths": {host: {"auth": auth}}}))


def test_the_right_password_is_accepted_and_found_nowhere(tmp_path: Path, own_home: Path) -> None:
    skill = make_skill(tmp_path, "pdf")
    with docker_registry(tmp_path / "registry", with_login=True) as host:
        _login(own_home, host, PASSWORD)
        push(f"{host}/acme", [skill])
        copy = fetched(f"oci://{host}/acme/pdf", tmp_path)
    assert files_of(tmp_path / "into" / "pdf") == files_of(skill)
    assert PASSWORD not in repr(copy)


def test_the_password_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = make_skill(tmp_path, "pdf")
    with docker_registry(tmp_path / "registry", with_login=True) as host:
        monkeypatch.setenv(f"PROWESS_LOGIN_{host.replace('.', '_').replace(':', '_')}", f"{USER}:{PASSWORD}")
        push(f"{host}/acme", [skill])


def test_a_wrong_password_is_refused_and_not_repeated(tmp_path: Path, own_home: Path) -> None:
    with docker_registry(tmp_path / "registry", with_login=True) as host:
        _login(own_home, host, "wrong-password")
        with pytest.raises(DistributionError, match="refused the login") as failed:
            fetched(f"oci://{host}/acme/pdf", tmp_path)
    assert "wrong-password" not in str(failed.value)


def test_without_a_password_the_message_says_how_to_give_one(tmp_path: Path) -> None:
    with (
        docker_registry(tmp_path / "registry", with_login=True) as host,
        pytest.raises(DistributionError, match=f"docker login {host}` or set PROWESS_LOGIN_127_0_0_1_"),
    ):
        fetched(f"oci://{host}/acme/pdf", tmp_path)


def test_signatures_under_the_fallback_tag_are_fetched_with_the_skill(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "pdf")
    bundle = b'{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"}'
    with docker_registry(tmp_path / "registry") as host:
        (pushed,) = push(f"{host}/acme", [skill])
        add_bundle(f"{host}/acme/pdf", pushed.artifact, bundle)
        copy = fetched(f"oci://{host}/acme/pdf", tmp_path)
    assert [(each.kind, each.data) for each in copy.signatures] == [("bundle", bundle)]


@pytest.fixture
def lying(tmp_path: Path) -> tuple[dict[str, Answer], str, str]:
    """Return the answers of a registry with one skill, and the paths of its manifest and of its layer."""
    artifact = oci_artifact(read_package(str(make_skill(tmp_path, "pdf"))))
    manifest = Answer(artifact.manifest, headers=(("content-type", MANIFEST_TYPE),))
    base = "/v2/acme/pdf"
    layer = json.loads(artifact.manifest)["layers"][0]["digest"]
    answers = {
        f"{base}/tags/list": Answer(b'{"tags": ["1.0.0"]}'),
        f"{base}/manifests/1.0.0": manifest,
        f"{base}/manifests/{artifact.digest}": manifest,
        **{f"{base}/blobs/{digest}": Answer(data) for digest, data in artifact.blobs.items()},
    }
    return answers, f"{base}/manifests/{artifact.digest}", f"{base}/blobs/{layer}"


def _flipped(answer: Answer, at: int) -> Answer:
    body = bytearray(answer.body)
    body[at] ^= 1
    return answer._replace(body=bytes(body))


@pytest.mark.parametrize("which", [1, 2])
def test_every_flipped_byte_of_manifest_and_layer_is_refused(
    tmp_path: Path, lying: tuple[dict[str, Answer], str, str], which: int
) -> None:
    answers, path = lying[0], (lying[1], lying[2])[which - 1]
    with serving(answers) as site, opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
        (offer,) = source.offers()
        size = len(answers[path].body)
        for at in range(0, size, max(1, size // 60)):
            site.answers[path] = _flipped(answers[path], at)
            with pytest.raises(IntegrityError):
                source.fetch(offer, str(tmp_path / "into"))
            assert list((tmp_path / "into").iterdir()) == []
        site.answers[path] = answers[path]
        source.fetch(offer, str(tmp_path / "into"))


def _referrers(lying: tuple[dict[str, Answer], str, str]) -> str:
    """Return the path of the list of signatures."""
    return lying[1].replace("/manifests/", "/referrers/")


def test_a_registry_that_cannot_list_the_signatures_now_is_out_of_reach_and_nothing_is_left(
    tmp_path: Path, lying: tuple[dict[str, Answer], str, str]
) -> None:
    with serving(lying[0]) as site, opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
        (offer,) = source.offers()
        site.answers[_referrers(lying)] = Answer(status=503, headers=(("retry-after", "7"),))
        with pytest.raises(UnavailableError, match="in 7 s"):
            source.fetch(offer, str(tmp_path / "into"))
        assert list((tmp_path / "into").iterdir()) == []


def test_a_signature_that_is_listed_and_missing_leaves_nothing(
    tmp_path: Path, lying: tuple[dict[str, Answer], str, str]
) -> None:
    row = Descriptor(media_type=MANIFEST_TYPE, digest=f"sha256:{'a' * 64}", size=1).as_json()
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [row]})
    with serving(lying[0]) as site, opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
        (offer,) = source.offers()
        site.answers[_referrers(lying)] = Answer(index, headers=(("content-type", INDEX_TYPE),))
        with pytest.raises(DistributionError, match=f"no manifest sha256:{'a' * 64}"):
            source.fetch(offer, str(tmp_path / "into"))
        assert list((tmp_path / "into").iterdir()) == []


def test_of_very_many_signatures_a_few_are_fetched(tmp_path: Path, lying: tuple[dict[str, Answer], str, str]) -> None:
    bundle = b"{}"
    digest = f"sha256:{hashlib.sha256(bundle).hexdigest()}"
    layer = {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "digest": digest, "size": len(bundle)}
    signatures = canonical_json(
        {"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": layer, "layers": [layer] * 99}
    )
    name = f"sha256:{hashlib.sha256(signatures).hexdigest()}"
    row = Descriptor(media_type=MANIFEST_TYPE, digest=name, size=len(signatures)).as_json()
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [row]})
    with serving(lying[0]) as site, opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
        (offer,) = source.offers()
        site.answers[_referrers(lying)] = Answer(index, headers=(("content-type", INDEX_TYPE),))
        site.answers[f"/v2/acme/pdf/manifests/{name}"] = Answer(signatures)
        site.answers[f"/v2/acme/pdf/blobs/{digest}"] = Answer(bundle)
        assert len(source.fetch(offer, str(tmp_path / "into")).signatures) == 32


def test_a_longer_layer_than_announced_is_left(tmp_path: Path, lying: tuple[dict[str, Answer], str, str]) -> None:
    answers, _, layer = lying
    with serving(answers) as site, opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
        (offer,) = source.offers()
        site.answers[layer] = answers[layer]._replace(body=answers[layer].body + b"\0")
        with pytest.raises(IntegrityError):
            source.fetch(offer, str(tmp_path / "into"))


def test_the_size_of_a_blob_is_compared_too() -> None:
    digest = sha256_of(b"data")
    check_blob(b"data", Descriptor(media_type="x", digest=digest, size=4), "it")
    for size in (3, 5):
        with pytest.raises(IntegrityError):
            check_blob(b"data", Descriptor(media_type="x", digest=digest, size=size), "it")


def test_a_token_is_fetched_from_the_same_host_with_the_login(tmp_path: Path, own_home: Path, lying: object) -> None:
    answers: dict[str, Answer] = lying[0]  # type: ignore[index] # as above
    with serving() as site:
        _login(own_home, site.host, PASSWORD)
        challenge = f'Bearer realm="{site.url}/token",service="skills",scope="repository:acme/pdf:pull"'

        def guarded(answer: Answer) -> object:
            def of(asked: object) -> Answer:
                if asked.headers.get("authorization") == "Bearer granted":  # type: ignore[attr-defined] # Asked
                    return answer
                return Answer(status=401, headers=(("www-authenticate", challenge),))

            return of

        site.answers.update({path: guarded(answer) for path, answer in answers.items()})  # type: ignore[misc] # as above
        site.answers["/token"] = Answer(b'{"token": "granted"}')
        fetched(f"oci://{site.host}/acme/pdf", tmp_path)
        (asked,) = [asked for asked in site.asked if asked.path.startswith("/token")]
    assert "service=skills&scope=repository%3Aacme%2Fpdf%3Apull" in asked.path
    assert asked.headers["authorization"].startswith("Basic ")


def test_a_token_server_on_another_host_does_not_get_the_login(tmp_path: Path, own_home: Path) -> None:
    with serving() as site:
        _login(own_home, site.host, PASSWORD)
        challenge = 'Bearer realm="https://tokens.invalid/",service="x"'
        site.answers["/v2/acme/pdf/tags/list"] = Answer(status=401, headers=(("www-authenticate", challenge),))
        with opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
            with pytest.raises(DistributionError, match=r"--allow-host tokens\.invalid"):
                source.versions()
            assert source.contacted == (site.host,)


def test_a_blob_on_another_host_is_refused_unless_allowed(
    tmp_path: Path, lying: tuple[dict[str, Answer], str, str]
) -> None:
    answers, _, layer = lying
    with serving({"/data": answers[layer]}) as store, serving(answers) as site:
        site.answers[layer] = Answer(status=307, headers=(("location", f"{store.url}/data"),))
        with pytest.raises(DistributionError, match=f"--allow-host {store.host}"):
            fetched(f"oci://{site.host}/acme/pdf", tmp_path)
        assert store.asked == []
        access = Access(redirect_hosts=(store.host,))
        with opened(f"oci://{site.host}/acme/pdf", tmp_path, access) as source:
            source.fetch(source.offers()[0], str(tmp_path / "into"))
            assert source.contacted == tuple(sorted((site.host, store.host)))


@pytest.mark.parametrize(
    "manifest",
    [
        b"{}",
        b"[]",
        b'{"schemaVersion": 2}',
        b'{"schemaVersion": 2, "layers": []}',
        b'{"schemaVersion": 2, "layers": [{"mediaType": "x", "digest": "md5:0", "size": 1}]}',
        b'{"schemaVersion": 2, "layers": [{"mediaType": "x", "digest": "sha256:%s", "size": -1}]}' % (b"0" * 64),
        b'{"schemaVersion": 2, "layers": 3}',
        b'{"schemaVersion": 2, "layers": [], "manifests": []}',
    ],
)
def test_a_manifest_that_is_none_is_refused_in_one_sentence(tmp_path: Path, manifest: bytes) -> None:
    def answer(site: Site) -> None:
        site.answers["/v2/acme/pdf/tags/list"] = Answer(b'{"tags": ["1.0.0"]}')
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        for reference in ("1.0.0", digest):
            site.answers[f"/v2/acme/pdf/manifests/{reference}"] = Answer(manifest)

    with serving() as site:
        answer(site)
        with pytest.raises(DistributionError, match=r"manifest|layers|descriptor"):
            fetched(f"oci://{site.host}/acme/pdf", tmp_path)


def test_offline_nothing_is_contacted(tmp_path: Path) -> None:
    with serving() as site, opened(f"oci://{site.host}/acme/pdf", tmp_path, Access(offline=True)) as source:
        with pytest.raises(UnavailableError, match="offline"):
            source.offers()
        assert site.asked == []


def test_an_index_of_several_skills_offers_each_and_names_what_is_left_out(tmp_path: Path) -> None:
    artifacts = [oci_artifact(read_package(str(make_skill(tmp_path, name)))) for name in ("pdf", "xlsx")]
    rows = [
        Descriptor(
            media_type=MANIFEST_TYPE, digest=one.digest, size=len(one.manifest), artifact_type="application/vnd.x"
        ).as_json()
        for one in artifacts
    ]
    image = Descriptor(media_type=MANIFEST_TYPE, digest=f"sha256:{'a' * 64}", size=1).as_json()
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [*rows, image]})
    with serving() as site:
        base = "/v2/acme/all"
        site.answers[f"{base}/tags/list"] = Answer(b'{"tags": ["latest"]}')
        site.answers[f"{base}/manifests/latest"] = Answer(index)
        for one in artifacts:
            site.answers[f"{base}/manifests/{one.digest}"] = Answer(one.manifest)
            site.answers |= {f"{base}/blobs/{digest}": Answer(data) for digest, data in one.blobs.items()}
        with opened(f"oci://{site.host}/acme/all", tmp_path) as source:
            offers = source.offers()
            assert [(offer.name, offer.version) for offer in offers] == [("pdf", "1.0.0"), ("xlsx", "1.0.0")]
            assert len(source.problems) == 1
            for offer in offers:
                source.fetch(offer, str(tmp_path / "into"))
    assert files_of(tmp_path / "into" / "xlsx") == files_of(tmp_path / "xlsx")


def test_tags_are_read_page_by_page_from_the_same_server_only(tmp_path: Path) -> None:
    base = "/v2/acme/pdf/tags/list"
    with serving() as other, serving() as site:
        following = (("link", f'<{base}?n=1000&last=b>; rel="next"'),)
        site.answers[f"{base}?n=1000"] = Answer(b'{"tags": ["v1.0.0", "latest"]}', headers=following)
        site.answers[f"{base}?n=1000&last=b"] = Answer(b'{"tags": ["2.0.0", "nightly"]}')
        with opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
            assert source.versions() == ("2.0.0", "1.0.0")
        elsewhere = (("link", f'<{other.url}{base}>; rel="next"'),)
        site.answers[f"{base}?n=1000"] = Answer(b'{"tags": ["1.0.0"]}', headers=elsewhere)
        with (
            opened(f"oci://{site.host}/acme/pdf", tmp_path) as source,
            pytest.raises(DistributionError, match="another server"),
        ):
            source.versions()
        assert other.asked == []


def test_a_malformed_link_to_more_tags_is_refused_in_one_sentence(tmp_path: Path) -> None:
    page = Answer(b'{"tags": ["1.0.0"]}', headers=(("link", '<http://[>; rel="next"'),))
    with (
        serving({"/v2/acme/pdf/tags/list": page}) as site,
        opened(f"oci://{site.host}/acme/pdf", tmp_path) as source,
        pytest.raises(UnsafePathError),
    ):
        source.versions()


def test_tags_without_end_are_left(tmp_path: Path) -> None:
    base = "/v2/acme/pdf/tags/list"
    with serving() as site:
        again = (("link", f'<{base}?n=1000>; rel="next"'),)
        site.answers[base] = Answer(b'{"tags": ["1.0.0"]}', headers=again)
        with (
            opened(f"oci://{site.host}/acme/pdf", tmp_path) as source,
            pytest.raises(DistributionError, match="more than 10000 tags"),
        ):
            source.versions()
        assert len(site.asked) == 100


def test_an_identity_token_is_exchanged_and_never_sent_to_the_registry(tmp_path: Path, own_home: Path) -> None:
    with serving() as site:
        (own_home / ".docker").mkdir()
        logins = {"auths": {site.host: {"identitytoken": PASSWORD}}}
        (own_home / ".docker" / "config.json").write_text(json.dumps(logins))
        challenge = f'Bearer realm="{site.url}/token",service="skills"'

        def tags(asked: Asked) -> Answer:
            if asked.headers.get("authorization") == "Bearer granted":
                return Answer(b'{"tags": ["1.0.0"]}')
            return Answer(status=401, headers=(("www-authenticate", challenge),))

        site.answers["/v2/acme/pdf/tags/list"] = tags
        site.answers["/token"] = Answer(b'{"access_token": "granted"}')
        with opened(f"oci://{site.host}/acme/pdf", tmp_path) as source:
            assert source.versions() == ("1.0.0",)
        (exchange,) = [asked for asked in site.asked if asked.path == "/token"]
        assert f"refresh_token={PASSWORD}".encode() in exchange.body
        assert all(PASSWORD not in str(asked.headers) for asked in site.asked)


def test_an_upload_goes_to_another_host_only_if_it_is_allowed() -> None:
    data, digest = b"blob", sha256_of(b"blob")
    with serving({"/u": Answer(status=201)}) as other, serving() as site:
        site.answers["/v2/skills/blobs/uploads/"] = Answer(status=202, headers=(("location", f"{other.url}/u"),))
        with HttpClient() as client, pytest.raises(DistributionError, match=f"sends uploads to {other.host}"):
            Repository(f"{site.host}/skills", client).push_blob(data, digest)
        assert other.asked == []
        with HttpClient(allowed_hosts=[other.host]) as client:
            Repository(f"{site.host}/skills", client).push_blob(data, digest)
        assert [asked.method for asked in other.asked] == ["PUT"]
