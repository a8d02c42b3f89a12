"""The conformance suites of `LoginStore` and `RateLimitStore`. Subclass them as those of `stores`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.store import LoginRow, Token

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.store import LoginStore, RateLimitStore, TokenStore

_LOGIN = LoginRow(tenant="default", body='{"user":"naïve \x00"}', expires_at=100.0)
_TOKEN = Token(id="one", tenant="default", role="viewer", user="ann", created_at=1.5, expires_at=90.0)


class LoginStoreConformance:
    """The tests of `LoginStore`, for a store with the tenant `default`."""

    def open_store(self, place: Path) -> LoginStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def tokens(self) -> TokenStore:
        """Return the tokens of the same store."""
        raise NotImplementedError

    def test_a_login_is_found_by_its_digest_until_it_ends(self, tmp_path: Path) -> None:
        """The time of the end itself is too late."""
        store = self.open_store(tmp_path)
        store.add_login(b"d" * 32, _LOGIN)
        assert store.login(b"d" * 32, 99.5) == _LOGIN
        for digest, at in ((b"d" * 32, 100.0), (b"d" * 31, 50.0), (b"", 50.0)):
            assert store.login(digest, at) is None

    def test_a_login_is_extended_and_never_shortened(self, tmp_path: Path) -> None:
        """One that is gone does not come back."""
        store = self.open_store(tmp_path)
        store.add_login(b"d" * 32, _LOGIN)
        store.extend_login(b"d" * 32, 200.0)
        store.extend_login(b"d" * 32, 150.0)
        store.extend_login(b"x" * 32, 200.0)
        assert store.login(b"d" * 32, 199.0) == replace(_LOGIN, expires_at=200.0)
        assert store.login(b"x" * 32, 50.0) is None

    def test_a_login_is_taken_once(self, tmp_path: Path) -> None:
        """One that has ended is removed, but not returned."""
        store = self.open_store(tmp_path)
        store.add_login(b"d" * 32, _LOGIN)
        store.add_login(b"e" * 32, _LOGIN)
        assert store.take_login(b"d" * 32, 50.0) == _LOGIN
        assert store.take_login(b"d" * 32, 50.0) is None
        assert store.take_login(b"e" * 32, 100.0) is None
        assert store.login(b"e" * 32, 50.0) is None

    def test_all_logins_of_a_user_are_removed(self, tmp_path: Path) -> None:
        """Those of others, and attempts without a user, stay."""
        store = self.open_store(tmp_path)
        for digest, user in ((b"d", "ann\x00"), (b"e", "ann\x00"), (b"f", "ann"), (b"g", None)):
            store.add_login(digest * 32, replace(_LOGIN, user=user))
        assert store.remove_logins("ann\x00") == 2  # noqa: PLR2004 -- the two of this user
        assert store.remove_logins("ann\x00") == 0
        kept = [store.login(digest * 32, 50.0) for digest in (b"d", b"e", b"f", b"g")]
        assert kept == [None, None, replace(_LOGIN, user="ann"), _LOGIN]

    def test_logins_that_ended_are_removed(self, tmp_path: Path) -> None:
        """Others stay."""
        store = self.open_store(tmp_path)
        store.add_login(b"d" * 32, _LOGIN)
        store.add_login(b"e" * 32, replace(_LOGIN, expires_at=300.0))
        assert store.expire_logins(200.0) == 1
        assert store.login(b"d" * 32, 50.0) is None
        assert store.login(b"e" * 32, 50.0) is not None

    def test_a_login_ends_with_its_token(self, tmp_path: Path) -> None:
        """Its role is that of the token. The token has expired, or was removed."""
        store = self.open_store(tmp_path)
        assert self.tokens().add_token(_TOKEN, b"t" * 32)
        login = replace(_LOGIN, token_id="one")  # noqa: S106 -- not a secret
        store.add_login(b"d" * 32, login)
        assert store.login(b"d" * 32, 89.0) == replace(login, token_role="viewer")  # noqa: S106 -- as above
        assert store.login(b"d" * 32, 90.0) is None
        assert self.tokens().remove_token("one")
        assert store.login(b"d" * 32, 89.0) is None


class RateLimitStoreConformance:
    """The tests of `RateLimitStore`."""

    def open_store(self, place: Path) -> RateLimitStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_each_key_is_counted_in_each_window(self, tmp_path: Path) -> None:
        """A count that is taken back is free again, and no count is below 0."""
        store = self.open_store(tmp_path)
        assert [store.count("a\x00", 600) for _ in range(3)] == [1, 2, 3]
        assert (store.count("b", 600), store.count("a\x00", 660)) == (1, 1)
        store.uncount("a\x00", 600)
        assert store.count("a\x00", 600) == 3  # noqa: PLR2004 -- the third
        for _ in range(3):
            store.uncount("b", 600)
        assert store.count("b", 600) == 1

    def test_old_windows_are_forgotten(self, tmp_path: Path) -> None:
        """A window that began more than a day before a new one begins again."""
        store = self.open_store(tmp_path)
        assert store.count("a", 600) == 1
        assert store.count("a", 600 + 86400) == 1
        assert store.count("a", 600) == 2  # noqa: PLR2004 -- the second
        assert store.count("a", 601 + 86400) == 1
        assert store.count("a", 600) == 1
