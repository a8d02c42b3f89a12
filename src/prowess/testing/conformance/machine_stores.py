"""The conformance suites of `MachineStore` and `ReleaseFileStore`. Subclass them as those of `stores`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.store import MachineRow

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.store import MachineStore, ReleaseFileStore

_MACHINE = MachineRow(
    tenant="default", id="one", name="naïve \x00", team="data", enrolled_at=1.5, seen_at=2.5, bundle=7, state="{}"
)


class MachineStoreConformance:
    """The tests of `MachineStore`, for a store with the tenant `default`."""

    def open_store(self, place: Path, tenant: str = "default") -> MachineStore:
        """Return a store as a tenant sees it, `*` for all. Those of one test share their rows, at first none."""
        raise NotImplementedError

    def test_a_machine_is_added_replaced_and_removed(self, tmp_path: Path) -> None:
        """A report replaces everything but the end of the log."""
        store = self.open_store(tmp_path)
        store.put_machine(_MACHINE)
        assert store.machine("one") == _MACHINE
        assert store.replace_log("one", "a", expected=None)
        changed = replace(_MACHINE, name="other", team=None, bundle=None, inventory="[]", seen_at=9.0)
        store.put_machine(changed)
        assert store.machine("one") == replace(changed, log="a")
        assert self.open_store(tmp_path, "*").machine("one") == replace(changed, log="a")
        assert store.remove_machine("one")
        assert not store.remove_machine("one")
        assert store.machine("one") is None

    def test_machines_are_listed_by_their_ids(self, tmp_path: Path) -> None:
        """A limit and the last id give the next ones."""
        store = self.open_store(tmp_path)
        for name in ("c", "a", "b"):
            store.put_machine(replace(_MACHINE, id=name))
        assert [one.id for one in store.machines()] == ["a", "b", "c"]
        assert [one.id for one in store.machines("a", 1)] == ["b"]
        assert store.machines("c") == []

    def test_the_end_of_a_log_is_replaced_only_if_it_is_the_expected_one(self, tmp_path: Path) -> None:
        """So two processes cannot both continue it."""
        store = self.open_store(tmp_path)
        assert not store.replace_log("one", "a", expected=None)
        store.put_machine(_MACHINE)
        assert store.replace_log("one", "a", expected=None)
        assert not store.replace_log("one", "b", expected=None)
        assert store.replace_log("one", "b", expected="a")
        found = store.machine("one")
        assert found is not None
        assert found.log == "b"


class ReleaseFileStoreConformance:
    """The tests of `ReleaseFileStore`, for a store with the tenant `default`."""

    def open_store(self, place: Path, tenant: str = "default") -> ReleaseFileStore:
        """Return the files of one owner, `*` for the organisation. The stores of one test share their rows."""
        raise NotImplementedError

    def test_files_are_published_together_or_not_at_all(self, tmp_path: Path) -> None:
        """The expected content is compared first, also of files that must not be there."""
        store = self.open_store(tmp_path)
        assert store.read("a/b") is None
        assert store.publish({"a/b": b"\x00one", "c": b""}, {"a/b": None})
        assert (store.read("a/b"), store.read("c")) == (b"\x00one", b"")
        assert not store.publish({"c": b"two", "d": b"new"}, {"a/b": None})
        assert not store.publish({"c": b"two", "d": b"new"}, {"a/b": b"other"})
        assert (store.read("c"), store.read("d")) == (b"", None)
        assert store.publish({"a/b": b"three"}, {"a/b": b"\x00one", "d": None}, is_act=False)
        assert store.read("a/b") == b"three"

    def test_owners_have_files_of_their_own(self, tmp_path: Path) -> None:
        """The organisation's and the tenant's have the same paths."""
        own, of_all = self.open_store(tmp_path), self.open_store(tmp_path, "*")
        assert own.publish({"a": b"own"}, {"a": None})
        assert of_all.publish({"a": b"all"}, {"a": None})
        assert (own.read("a"), of_all.read("a")) == (b"own", b"all")
