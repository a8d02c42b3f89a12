"""The conformance suites of stores of an organisation's decisions: policies, blocks and questions to people.

`prowess.testing.conformance.stores` offers them with the other suites.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.store import BlockRow, CallRequestRow, RequestRow

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.store import ApprovalRequestStore, BlockStore, CallRequestStore, DeployerStore, PolicyStore

HOSTILE_TEXTS = ("naïve \x00 '; --", "\x00", "%s :tenant {}", "\U0001f600", " one ", "one\x00")
_BLOCK = BlockRow(
    tenant="default", id="one", subject="name deploy", kind="name", value="deploy", reason="leaks", by="ada", at=""
)


class PolicyStoreConformance:
    """The tests of `PolicyStore`, for stores of one place with the tenants `default` and `*`."""

    def open_store(self, place: Path, tenant: str = "default") -> PolicyStore:
        """Return the store of a tenant; without any row for the first tenant of a `place`."""
        raise NotImplementedError

    def test_a_policy_is_replaced_as_a_whole_and_its_versions_are_counted(self, tmp_path: Path) -> None:
        """Its text may contain any characters."""
        store, seen = self.open_store(tmp_path), [0]
        for number, text in enumerate(HOSTILE_TEXTS, 1):
            row, generation = store.put_policy("base", text, by=text, at="2026-11-29T10:00:00Z")
            assert (row.number, row.toml, row.by, store.policies()) == (number, text, text, [row])
            seen.append(generation)
        assert seen == sorted(set(seen))

    def test_a_removed_policy_is_gone(self, tmp_path: Path) -> None:
        """The removal is a new generation; that of an unknown one is None."""
        store = self.open_store(tmp_path)
        _, generation = store.put_policy("base", "", by="ada", at="")
        assert store.remove_policy("other") is None
        assert (store.remove_policy("base") or 0) > generation
        assert (store.remove_policy("base"), store.policies()) == (None, [])

    def test_every_tenant_sees_the_policies_of_the_organisation_and_changes_none(self, tmp_path: Path) -> None:
        """They come first, and a tenant may have one of the same name."""
        own, all_ = self.open_store(tmp_path), self.open_store(tmp_path, "*")
        own.put_policy("a", "own", by="ada", at="")
        all_.put_policy("b", "given", by="ada", at="")
        own.put_policy("b", "own", by="ada", at="")
        assert [(row.tenant, row.name, row.toml) for row in own.policies()] == [
            ("*", "b", "given"),
            ("default", "a", "own"),
            ("default", "b", "own"),
        ]
        assert own.remove_policy("b") is not None
        assert own.remove_policy("b") is None
        assert [row.tenant for row in own.policies()] == ["*", "default"]


class BlockStoreConformance:
    """The tests of `BlockStore`, for stores of one place with the tenants `default` and `*`."""

    def open_store(self, place: Path, tenant: str = "default") -> BlockStore:
        """Return the store of a tenant; without any row for the first tenant of a `place`."""
        raise NotImplementedError

    def test_blocks_are_returned_as_they_were_stored_the_oldest_first(self, tmp_path: Path) -> None:
        """Their texts may contain any characters; each is a new generation."""
        store = self.open_store(tmp_path)
        rows = [
            replace(
                _BLOCK,
                id=str(place),
                subject=str(place),
                value=text,
                reason=text,
                by=text,
                at=f"2026-11-29T10:00:0{place}Z",
            )
            for place, text in enumerate(HOSTILE_TEXTS)
        ]
        seen = [store.add_block(row) or 0 for row in reversed(rows)]
        assert store.blocks() == rows
        assert seen == sorted(set(seen))

    def test_a_tenant_has_one_block_of_a_subject(self, tmp_path: Path) -> None:
        """Also if several threads add it at once. The organisation may have the same one."""
        store, all_ = self.open_store(tmp_path), self.open_store(tmp_path, "*")
        rows = [replace(_BLOCK, id=f"{number}") for number in range(8)]
        with ThreadPoolExecutor(4) as threads:
            added = [
                row for row, generation in zip(rows, threads.map(store.add_block, rows), strict=True) if generation
            ]
        assert (len(added), store.blocks()) == (1, added)
        assert all_.add_block(replace(_BLOCK, tenant="*", id="given")) is not None
        assert store.remove_block(added[0].id) is not None
        assert store.add_block(rows[0]) is not None

    def test_a_lifted_block_is_gone(self, tmp_path: Path) -> None:
        """The removal is a new generation; that of an unknown one is None."""
        store = self.open_store(tmp_path)
        generation = store.add_block(_BLOCK) or 0
        assert store.remove_block("other") is None
        assert (store.remove_block(_BLOCK.id) or 0) > generation
        assert (store.remove_block(_BLOCK.id), store.blocks()) == (None, [])

    def test_every_tenant_sees_the_blocks_of_the_organisation_and_lifts_none(self, tmp_path: Path) -> None:
        """Who administers the organisation lifts those of every tenant."""
        own, all_ = self.open_store(tmp_path), self.open_store(tmp_path, "*")
        given = replace(_BLOCK, tenant="*", id="given")
        before = own.add_block(_BLOCK) or 0
        all_.add_block(given)
        # The act of the organisation counts here, as much as the first one of the tenant.
        assert (own.add_block(replace(_BLOCK, id="second", subject="second")) or 0) > 2 * before
        assert sorted(row.id for row in own.blocks()) == ["given", "one", "second"]
        assert own.remove_block("given") is None
        assert [row.id for row in all_.blocks()] == [row.id for row in own.blocks()]
        assert all_.remove_block("one") is not None
        assert sorted(row.id for row in own.blocks()) == ["given", "second"]


class ApprovalRequestStoreConformance:
    """The tests of `ApprovalRequestStore`."""

    def open_store(self, place: Path) -> ApprovalRequestStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_a_question_is_asked_once(self, tmp_path: Path) -> None:
        """A second one with the id is refused and changes nothing. The oldest is first."""
        store = self.open_store(tmp_path)
        texts = enumerate(HOSTILE_TEXTS)
        rows = [RequestRow(id=f"{at}", digest=f"sha256:{at % 2}", at=f"{at}", body=text) for at, text in texts]
        assert all(store.put_request(row, expected=None) for row in reversed(rows))
        assert not store.put_request(replace(rows[0], body="another"), expected=None)
        assert not store.put_request(replace(rows[0], body="another"), expected=rows[1])
        assert store.requests() == rows
        assert store.put_request(replace(rows[0], at="9", body="another"), expected=rows[0])
        assert store.requests() == [replace(rows[0], body="another"), *rows[1:]]  # its place in the list stays
        assert store.requests(digests=["sha256:1"]) == rows[1::2]

    def test_old_questions_of_sessions_and_too_many_are_dropped(self, tmp_path: Path) -> None:
        """The newest stay, and all in which a person has a part."""
        store = self.open_store(tmp_path)
        rows = [RequestRow(id=f"{at}", digest="sha256:1", at=f"{at}", body="", of_person=at == 1) for at in range(6)]
        assert all(store.put_request(row, expected=None) for row in rows)
        assert store.put_request(replace(rows[0], of_person=True), expected=rows[0])
        assert store.drop_requests(before="3", most=9) == 1
        assert store.drop_requests(before="3", most=2) == 1
        assert [row.id for row in store.requests()] == ["0", "1", "4", "5"]


class DeployerStoreConformance:
    """The tests of `DeployerStore`, for stores of one place with the tenants `default` and `*`."""

    def open_store(self, place: Path, tenant: str = "default") -> DeployerStore:
        """Return the store of a tenant; without any row for the first tenant of a `place`."""
        raise NotImplementedError

    def test_who_deployed_a_skill_is_known(self, tmp_path: Path) -> None:
        """Each once, with any characters; those of the organisation too."""
        own, all_ = self.open_store(tmp_path), self.open_store(tmp_path, "*")
        for user in (*HOSTILE_TEXTS, *HOSTILE_TEXTS):
            own.add_deployer(["sha256:1", "sha256:2", "sha256:1"], user)
        own.add_deployer([], "nobody")
        all_.add_deployer(["sha256:1"], "ada")
        assert own.deployers("sha256:1") == sorted({*HOSTILE_TEXTS, "ada"})
        assert (own.deployers("sha256:2"), own.deployers("sha256:3")) == (sorted(HOSTILE_TEXTS), [])
        assert all_.deployers("sha256:2") == []


class CallRequestStoreConformance:
    """The tests of `CallRequestStore`."""

    def open_store(self, place: Path) -> CallRequestStore:
        """Return a new, empty store. `place` is an empty directory for its files."""
        raise NotImplementedError

    def test_a_question_is_changed_in_one_step(self, tmp_path: Path) -> None:
        """What the change returns is kept, None removes the question, and what it raises changes nothing."""
        store = self.open_store(tmp_path)
        row, seen = CallRequestRow(id="one", body="\x00 a", expires_at=100.0), list[str | None]()

        def changed(body: str | None) -> CallRequestRow:
            seen.append(body)
            return replace(row, body=f"{body}!") if body else row

        def failing(body: str | None) -> None:
            raise KeyError(body)

        assert store.change_call("one", changed, at=1.0) == row
        assert (store.change_call("one", changed, at=1.0), seen) == (replace(row, body="\x00 a!"), [None, row.body])
        with suppress(KeyError):
            store.change_call("one", failing, at=1.0)
        assert [one.body for one in store.calls(1.0)] == ["\x00 a!"]
        assert store.change_call("one", lambda _: None, at=1.0) is None
        assert store.calls(1.0) == []

    def test_an_expired_question_is_not_returned(self, tmp_path: Path) -> None:
        """Also not to a change. The time of the expiry itself is too late."""
        store = self.open_store(tmp_path)
        names = ["one", "two"]
        for name in names:
            row = CallRequestRow(id=name, body=name, expires_at=100.0)
            assert store.change_call(name, lambda _, row=row: row, at=1.0) == row  # type: ignore[misc]  # a default
        assert [one.body for one in store.calls(99.5)] == names
        assert store.calls(100.0) == []
        seen: list[str | None] = []
        store.change_call("one", seen.append, at=100.0)
        assert seen == [None]

    def test_no_change_of_several_threads_is_lost(self, tmp_path: Path) -> None:
        """Nothing else changes a question during a change."""
        store = self.open_store(tmp_path)

        def counted(body: str | None) -> CallRequestRow:
            return CallRequestRow(id="one", body=str(int(body or 0) + 1), expires_at=100.0)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: store.change_call("one", counted, at=1.0), range(20)))
        assert [row.body for row in store.calls(1.0)] == ["20"]
        taken: list[str] = []

        def used(body: str | None) -> CallRequestRow | None:
            if body is not None:
                taken.append(body)
            return None if body else CallRequestRow(id="one", body="kept", expires_at=100.0)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: store.change_call("one", used, at=1.0), range(21)))
        assert (taken, store.calls(1.0)) == (["20", *["kept"] * 10], [])
