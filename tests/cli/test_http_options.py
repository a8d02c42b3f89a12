from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import click
import pytest

from prowess.cli.dispatch import run
from prowess.cli.options.http_options import TOKEN_VARIABLE, HttpPlace, http_place, is_loopback

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("8000", "127.0.0.1", 8000),
        (":8000", "127.0.0.1", 8000),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost:65535", "localhost", 65535),
        ("[::1]:1", "::1", 1),
    ],
)
def test_an_address_may_be_a_port_alone(text: str, host: str, port: int) -> None:
    assert http_place(text, None, (), allow_remote=False) == HttpPlace(host=host, port=port, tokens=(), hosts=())


@pytest.mark.parametrize(
    "text", ["", "x", "1.2.3.4", "h:65536", "h:-1", "h:\u0661", "::1:80", "[h]:80", "[]:80", "h:" + "9" * 99]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="not an address"):
        http_place(text, None, (), allow_remote=True)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "[::]", "example.org"])  # noqa: S104 -- to be refused
def test_what_others_can_reach_needs_a_flag_and_a_token(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(click.BadParameter, match="--allow-remote"):
        http_place(f"{host}:80", None, (), allow_remote=False)
    with pytest.raises(click.BadParameter, match="give a token"):
        http_place(f"{host}:80", None, (), allow_remote=True)
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    place = http_place(f"{host}:80", None, ("a.example",), allow_remote=True)
    assert (place.tokens, place.hosts) == ((TOKEN,), ("a.example",))


def test_a_token_is_private_and_long_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(f"  {TOKEN}\n")
    file.chmod(0o644)
    with pytest.raises(click.BadParameter, match="chmod 600"):
        http_place("1", str(file), (), allow_remote=False)
    file.chmod(0o600)
    monkeypatch.setenv(TOKEN_VARIABLE, "another-0123456789")
    assert http_place("1", str(file), (), allow_remote=False).tokens == (TOKEN,), "the file wins"
    file.write_text(f"{TOKEN}\n\nanother-0123456789\r\n{TOKEN}\n")
    assert http_place("1", str(file), (), allow_remote=False).tokens == (TOKEN, "another-0123456789")
    file.write_text(f"{TOKEN}\n" * 20_000)
    with pytest.raises(click.BadParameter, match="is larger than"):
        http_place("1", str(file), (), allow_remote=False)
    for bad in ("", "\n", "short", f"{TOKEN}\nshort", "0123456789abcde f", "\u00fc" * 20, "x" * 5000):
        file.write_text(bad)
        with pytest.raises(click.BadParameter, match="printable ASCII"):
            http_place("1", str(file), (), allow_remote=False)


def test_a_line_of_the_token_file_may_name_its_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"ada {TOKEN}\nplain-0123456789\n  grace\tanother-0123456789  \n")
    file.chmod(0o600)
    place = http_place("1", str(file), (), allow_remote=False)
    assert place.tokens == (TOKEN, "plain-0123456789", "another-0123456789")
    digests = {hashlib.sha256(token.encode()).hexdigest(): token for token in place.tokens}
    assert {digests[digest]: user for digest, user in place.users.items()} == {
        TOKEN: "ada",
        "another-0123456789": "grace",
    }
    for bad in (f"ada lovelace {TOKEN}", f"{'n' * 65} {TOKEN}", f"a\x1bb {TOKEN}", f"{TOKEN} ada"):
        file.write_text(bad)
        with pytest.raises(click.BadParameter):
            http_place("1", str(file), (), allow_remote=False)


def test_loopback_is_known_by_address_or_by_the_one_name() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "LocalHost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.example")] == [False] * 4  # noqa: S104 -- as above


def test_flags_of_http_without_http_are_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--allow-remote"]) == 2
    assert "need --http" in capfd.readouterr().err
