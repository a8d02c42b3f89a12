"""The HTTP client against real servers: redirects, endless and slow answers, TLS, and which servers were contacted."""

from __future__ import annotations

import datetime as dt
import ipaddress
import itertools
import ssl
import time
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from prowess.distribution.sources.http.client import HttpClient, HttpLimits
from prowess.errors import DistributionError, LimitExceededError, UnavailableError, UnsafePathError
from tests.distribution.serving import Answer, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KIB = 1024
HASTY = HttpLimits(connect=5, idle=5, total=0.5)


def test_an_answer_is_read_whole_and_its_server_is_listed() -> None:
    with serving({"/a": Answer(b"body", headers=(("X-Kind", "text"),))}) as site, HttpClient() as client:
        answer = client.get(f"{site.url}/a", most=KIB)
        assert (answer.status, answer.body, answer.headers["x-kind"]) == (200, b"body", "text")
        assert client.contacted == (site.host,)


def test_a_redirect_on_the_same_server_is_followed() -> None:
    moved = {"/a": Answer(status=302, headers=(("location", "/b"),)), "/b": Answer(b"there")}
    with serving(moved) as site, HttpClient() as client:
        answer = client.get(f"{site.url}/a", most=KIB)
        assert (answer.body, answer.url) == (b"there", f"{site.url}/b")


def test_a_redirect_to_another_host_is_refused_before_it_is_contacted() -> None:
    with serving({"/b": Answer(b"elsewhere")}) as other, serving() as site, HttpClient() as client:
        site.answers["/a"] = Answer(status=307, headers=(("location", f"{other.url}/b"),))
        with pytest.raises(DistributionError, match=f"--allow-host {other.host}"):
            client.get(f"{site.url}/a", most=KIB)
        assert other.asked == []
        assert client.contacted == (site.host,)


def test_a_redirect_to_an_allowed_host_is_followed_without_the_credentials_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving({"/b": Answer(b"elsewhere")}) as other, serving() as site:
        monkeypatch.setenv(f"PROWESS_TOKEN_127_0_0_1_{site.port}", "of-the-first")
        site.answers["/a"] = Answer(status=307, headers=(("location", f"{other.url}/b"),))
        with HttpClient(allowed_hosts=[other.host]) as client:
            assert client.get(f"{site.url}/a", most=KIB).body == b"elsewhere"
            assert client.contacted == tuple(sorted((site.host, other.host)))
        assert site.asked[0].headers["authorization"] == "Bearer of-the-first"
        with HttpClient(allowed_hosts=[other.host]) as client:
            client.get(f"{site.url}/a", most=KIB, headers={"Authorization": "Bearer of-the-caller"})
        assert site.asked[-1].headers["authorization"] == "Bearer of-the-caller"
        assert all("authorization" not in asked.headers for asked in other.asked)


@pytest.mark.parametrize(
    "target",
    [
        "http://example.com/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "//user:pw@[::1]/",
        "http://169.254.169.254/latest",
        "http://[",
        "//[x]/",
    ],
)
def test_a_redirect_to_an_address_that_must_not_be_contacted_is_refused(target: str) -> None:
    with serving({"/": Answer(status=302, headers=(("location", target),))}) as site, HttpClient() as client:
        with pytest.raises(UnsafePathError) as refused:
            client.get(f"{site.url}/", most=KIB)
        assert "pw" not in str(refused.value)
        assert client.contacted == (site.host,)


def test_redirects_in_a_circle_end() -> None:
    with serving({"/": Answer(status=302, headers=(("location", "/"),))}) as site, HttpClient() as client:
        with pytest.raises(DistributionError, match="more than 5 redirects"):
            client.get(f"{site.url}/", most=KIB)
        assert len(site.asked) == 6


@pytest.mark.parametrize(
    "url", ["http://example.com/", "https://user:planted@example.com/", "https://a\\b/", "ftp://h/"]
)
def test_an_unsafe_url_is_refused_without_repeating_a_credential(url: str) -> None:
    with HttpClient() as client:
        with pytest.raises(UnsafePathError) as refused:
            client.get(url, most=KIB)
        assert "planted" not in str(refused.value)
        assert client.contacted == ()


def _endless_body(write: Callable[[bytes], object]) -> None:
    write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in itertools.count():
        write(b"x" * 65536)


def _endless_headers(write: Callable[[bytes], object]) -> None:
    write(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        write(b"x-%d: y\r\n" % number)


def _endless_beginnings(write: Callable[[bytes], object]) -> None:
    for _ in itertools.count():
        write(b"HTTP/1.1 102 Processing\r\n\r\n")


def _dripping_headers(write: Callable[[bytes], object]) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"y" * 600:
        write(bytes([byte]))
        time.sleep(0.05)


def _dripping_body(write: Callable[[bytes], object]) -> None:
    write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(600):
        write(b"y")
        time.sleep(0.05)


def test_a_body_without_end_is_left_at_the_limit() -> None:
    with (
        serving({"/": Answer(send=_endless_body)}) as site,
        HttpClient() as client,
        pytest.raises(LimitExceededError, match="limit of 102400"),
    ):
        client.get(f"{site.url}/", most=100 * KIB)


def test_headers_without_end_are_left() -> None:
    with (
        serving({"/": Answer(send=_endless_headers)}) as site,
        HttpClient() as client,
        pytest.raises(UnavailableError),
    ):
        client.get(f"{site.url}/", most=KIB)


@pytest.mark.parametrize("send", [_endless_beginnings, _dripping_headers, _dripping_body])
def test_an_answer_that_takes_too_long_in_all_is_left(send: Callable[[Callable[[bytes], object]], None]) -> None:
    with (
        serving({"/": Answer(send=send)}) as site,
        HttpClient(limits=HASTY) as client,
        pytest.raises(LimitExceededError, match="seconds for"),
    ):
        client.get(f"{site.url}/", most=1 << 20)


def test_a_compressed_answer_is_kept_as_sent() -> None:
    with serving({"/": Answer(b"\x1f\x8b not gzip", headers=(("content-encoding", "gzip"),))}) as site:
        with HttpClient() as client:
            assert client.get(f"{site.url}/", most=KIB).body == b"\x1f\x8b not gzip"
        assert site.asked[0].headers["accept-encoding"] == "identity"


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with serving() as site:
        pass
    with HttpClient() as client, pytest.raises(UnavailableError, match="Connection refused"):
        client.get(f"{site.url}/", most=KIB)


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [(404, DistributionError, "does not exist"), (401, DistributionError, "netrc"), (418, DistributionError, "418")],
)
def test_a_status_that_is_no_success_names_the_url(status: int, kind: type[Exception], text: str) -> None:
    with serving({"/x": Answer(status=status)}) as site, HttpClient() as client:
        with pytest.raises(kind, match=text) as failed:
            client.get(f"{site.url}/x?q=planted", most=KIB).require_success("the index")
        assert f"{site.url}/x" in str(failed.value)
        assert "planted" not in str(failed.value)


def test_a_server_that_asks_to_wait_is_unavailable_with_its_delay() -> None:
    with (
        serving({"/": Answer(status=503, headers=(("retry-after", "7"),))}) as site,
        HttpClient() as client,
        pytest.raises(UnavailableError, match="in 7 s"),
    ):
        client.get(f"{site.url}/", most=KIB).require_success("the index")


def test_cookies_are_not_sent_back() -> None:
    with serving({"/": Answer(headers=(("set-cookie", "id=1"),))}) as site, HttpClient() as client:
        client.get(f"{site.url}/", most=KIB)
        client.get(f"{site.url}/", most=KIB)
        assert "cookie" not in {name.lower() for name in site.asked[1].headers}


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, serving({"/": Answer(b"direct")}) as site, HttpClient() as client:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert client.get(f"{site.url}/", most=KIB).body == b"direct"
        assert proxy.asked == []


def test_a_proxy_of_the_environment_is_contacted_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, HttpClient() as client:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:planted@{proxy.host}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        with pytest.raises(UnavailableError) as failed:
            client.get("https://skills.invalid/", most=KIB)
        assert client.contacted == tuple(sorted((proxy.host, "skills.invalid")))
        assert "planted" not in str(failed.value)


def _certificate(directory: Path) -> tuple[str, ssl.SSLContext]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    address = x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = directory / "public.pem", directory / "private.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return str(public), context


def test_a_certificate_that_nobody_vouches_for_is_refused_and_one_of_the_environment_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, context = _certificate(tmp_path)
    with serving({"/": Answer(b"secure")}, tls=context) as site:
        with HttpClient() as client, pytest.raises(UnavailableError):
            client.get(f"{site.url}/", most=KIB)
        monkeypatch.setenv("SSL_CERT_FILE", public)
        with HttpClient() as client:
            assert client.get(f"{site.url}/", most=KIB).body == b"secure"


def test_a_redirect_from_https_to_http_is_refused_even_to_an_allowed_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, context = _certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", public)
    with serving({"/b": Answer(b"plain")}) as plain, serving(tls=context) as site:
        site.answers["/a"] = Answer(status=302, headers=(("location", f"{plain.url}/b"),))
        with (
            HttpClient(allowed_hosts=[plain.host]) as client,
            pytest.raises(DistributionError, match="redirects from https to http"),
        ):
            client.get(f"{site.url}/a", most=KIB)
        assert plain.asked == []
