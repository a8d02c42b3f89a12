"""Index file of a catalog: rows in SQLite about skills and directories, so that unchanged files need not be read again.

The values are opaque here. Each row has a checksum over its key and all its values, so that a damaged file is noticed.
Nothing of the file is executed: a file with another schema than ours is not used, and neither is one that another user
could have written, a link, or one that is not a regular file.

Readers share a lock and writers have it alone (`<path>.lock`). A process that does not get the lock at once works
without the index. Each write is one transaction, so that a killed process leaves the old rows or the new ones. A file
that cannot be used is removed by the next writer. The rows are a cache, so they are not synced to the disk: after a
power failure the file may be damaged, which is noticed like any damage.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from prowess._internal.files.file_lock import locked
from prowess._internal.files.open_flags import NEW_FILE, READ
from prowess._internal.files.private_cache import flaw_of
from prowess._internal.places import ensure_private_directory
from prowess.store.index_faults import BusyIndexError, MissingIndexError, UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_BYTES = 8 * 1024**3  # some 12 million skills
_LOCK_SECONDS = 0.05
_APPLICATION = 0x50574958  # "PWIX"
_PAGE_BYTES = 8192
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_SCHEMA = (
    """CREATE TABLE directory (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        stamp INTEGER NOT NULL,
        data BLOB NOT NULL,
        checksum INTEGER NOT NULL
    )""",
    """CREATE TABLE skill (
        key TEXT NOT NULL,
        directory INTEGER NOT NULL,
        child TEXT NOT NULL,
        stamp INTEGER NOT NULL,
        copies INTEGER NOT NULL,
        facts BLOB NOT NULL,
        data BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (key, directory, child)
    ) WITHOUT ROWID""",
    """CREATE TABLE extra (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        data BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID""",
)
_BESIDE = ("-journal", "-wal", "-shm")
_IDENTITY = "identity"
_NOWHERE = (b"", 0)  # a row whose directory is missing has another checksum, because no directory has an empty path
_T = TypeVar("_T")

DirectoryRow = tuple[bytes, int, bytes]
"""Path, stamp and data of a directory."""

SkillRow = tuple[str, bytes, str, int, int, bytes, bytes]
"""Key, path of the parent directory, child (empty if it equals the key), stamp, copies of the key, facts and data."""


class IndexFile:
    """The rows of one index file. `identity` names what the rows are about; a file with another identity is not used.

    `extra` rows are for other parts of the catalog, for example word lists for matching: a kind, a key and bytes.
    """

    def __init__(self, path: str, identity: bytes) -> None:
        self.path = path
        self._identity = identity
        # SQLite changes its counter with each transaction: its value at the last access, and at the last time when the
        # caller read or wrote the skills. Rows made from older skills must not be written.
        self._accessed = self._counter = b""

    @property
    def state(self) -> bytes:
        """A value that changes with each write, as of the last access by this object."""
        return self._accessed

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def read(self, keys: Iterable[str] | None, take: Callable[[list[DirectoryRow], Iterator[SkillRow]], _T]) -> _T:
        """Return the result of `take` for all rows; with `keys`, for all directories and the skills with these keys.

        Raises:
            UnusableIndexError: the file cannot be used, or a row is damaged.
        """
        with self._reading() as connection:
            if keys is None or not self._counter:
                self._counter = self._accessed
            paths, directories = _directories(connection)
            if keys is None:
                return take(directories, _skills(paths, connection.execute("SELECT * FROM skill")))
            rows: list[SkillRow] = []
            for key in keys:
                found = list(_skills(paths, connection.execute("SELECT * FROM skill WHERE key = ?", (key,))))
                if any(row[4] != len(found) for row in found):
                    raise UnusableIndexError("the file is damaged: a copy is missing")
                rows += found
            return take(directories, iter(rows))

    def extra_rows(self, kind: str, keys: Iterable[str] | None = None, *, at: bytes | None = None) -> dict[str, bytes]:
        """Return the rows of this kind, those with one of `keys` or all.

        Raises:
            BusyIndexError: the file has changed since its `state` was `at`.
            UnusableIndexError: the file cannot be used, or a row is damaged.
        """
        with self._reading() as connection:
            if at is not None and at != self._accessed:
                raise BusyIndexError
            query = "SELECT key, data, checksum FROM extra WHERE kind = ?"
            if keys is None:
                rows = connection.execute(query, (kind,)).fetchall()
            else:
                one = f"{query} AND key = ?"
                rows = [row for key in keys for row in connection.execute(one, (kind, key))]
            return dict(_checked_extra(kind, row) for row in rows)

    def counts(self) -> dict[str, int]:
        """Return the numbers of skills, directories, and extra rows of each kind. Raises UnusableIndexError."""
        with self._reading() as connection:
            kinds = connection.execute("SELECT kind, count(*) FROM extra WHERE kind != ? GROUP BY kind", (_IDENTITY,))
            return {
                "skills": connection.execute("SELECT count(*) FROM skill WHERE stamp != 0").fetchone()[0],
                "directories": connection.execute("SELECT count(*) FROM directory WHERE stamp != 0").fetchone()[0],
                **dict(kinds.fetchall()),
            }

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._locked(shared=True):
            self._accessed = self._require_usable()
            with self._connected() as connection:
                self._require_ours(connection)
                yield connection

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    def build(self, directories: Iterable[DirectoryRow], skills: Iterable[SkillRow]) -> None:
        """Replace the file by one with these rows; extra rows are dropped. Raises UnusableIndexError."""
        try:
            ensure_private_directory(os.path.dirname(self.path))
        except OSError as fault:
            raise UnusableIndexError(f"{os.path.dirname(self.path)} cannot be used: {fault.strerror}") from None
        draft = f"{self.path}.new"
        with self._locked():
            self._delete(("", *_BESIDE, ".new"))
            try:
                os.close(os.open(draft, NEW_FILE, 0o600))
                with self._connected(draft) as connection:
                    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                    connection.execute("PRAGMA journal_mode = OFF")  # the draft is used only if it is complete
                    with _transaction(connection):
                        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                        for statement in _SCHEMA:
                            connection.execute(statement)
                        _put_extra(connection, _IDENTITY, {"": self._identity})
                        ids: dict[bytes, int] = {}
                        _put_directories(connection, directories, ids)
                        _put_skills(connection, skills, ids)
                os.replace(draft, self.path)
            except OSError as fault:
                raise UnusableIndexError(f"the file cannot be written: {os.strerror(fault.errno or 0)}") from None
            finally:
                with suppress(OSError):
                    os.unlink(draft)
            self._accessed = self._counter = self._require_usable()

    def change(
        self,
        *,
        directories: Iterable[DirectoryRow] = (),
        skills: Iterable[SkillRow] = (),
        gone_directories: Iterable[bytes] = (),
        gone_skills: Iterable[tuple[str, bytes, str]] = (),
    ) -> None:
        """Add or replace rows, and delete those that are gone, all in one transaction. Extra rows are dropped.

        Raises:
            BusyIndexError: the file was changed since this object read or wrote it.
            UnusableIndexError: the file cannot be used.
        """
        with self._writing() as connection:
            connection.execute("DELETE FROM extra WHERE kind != ?", (_IDENTITY,))
            ids: dict[bytes, int] = dict(connection.execute("SELECT path, id FROM directory").fetchall())
            for path in gone_directories:
                connection.execute("DELETE FROM directory WHERE path = ?", (path,))
            rows = [(key, ids.get(path, -1), child) for key, path, child in gone_skills]
            connection.executemany("DELETE FROM skill WHERE key = ? AND directory = ? AND child = ?", rows)
            _put_directories(connection, directories, ids)
            _put_skills(connection, skills, ids)

    def replace_extra(self, kinds: Mapping[str, Mapping[str, bytes]]) -> None:
        """Replace all extra rows of these kinds, in one transaction. Raises UnusableIndexError."""
        with self._writing() as connection:
            for kind, rows in kinds.items():
                connection.execute("DELETE FROM extra WHERE kind = ?", (kind,))
                _put_extra(connection, kind, rows)

    def remove(self) -> bool:
        """Delete the file; return whether there was one. Raises UnusableIndexError."""
        if not os.path.lexists(self.path):
            return False
        with self._locked():
            self._delete(("", *_BESIDE, ".new"))
        return True

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._locked():
            if self._require_usable() != self._counter:
                raise BusyIndexError
            with self._connected() as connection:
                self._require_ours(connection)
                with _transaction(connection):
                    yield connection
            self._accessed = self._counter = self._require_usable()

    def _delete(self, ends: Iterable[str]) -> None:
        """Delete the file and what is beside it. A journal goes after its file: it must not be used for a newer one."""
        for end in ends:
            path = f"{self.path}{end}"
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue
            except OSError as fault:
                with suppress(OSError):
                    os.rmdir(path)  # an empty directory; one with files is left alone
                    continue
                raise UnusableIndexError(f"{path} cannot be removed: {os.strerror(fault.errno or 0)}") from None

    # ── opening ────────────────────────────────────────────────────────────────────────────────────────

    def _require_usable(self) -> bytes:
        """Check the file without SQLite, and return its counter of changes. Raises UnusableIndexError."""
        try:
            if (flaw := flaw_of(self.path, most=MAX_BYTES)) is not None:
                raise UnusableIndexError(flaw)
            for end in _BESIDE:
                if os.path.lexists(f"{self.path}{end}") and (flaw := flaw_of(f"{self.path}{end}", most=MAX_BYTES)):
                    raise UnusableIndexError(flaw)
            descriptor = os.open(self.path, READ)
            try:
                head = os.read(descriptor, _HEADER_BYTES)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise MissingIndexError from None
        except OSError as fault:
            raise UnusableIndexError(f"it cannot be read: {os.strerror(fault.errno or 0)}") from None
        # Bytes 18 and 19 are 1 in a file with a rollback journal; bytes 68 to 71 are the number of the application.
        if head[:16] != _MAGIC or head[18:20] != b"\1\1" or head[68:72] != _APPLICATION.to_bytes(4, "big"):
            raise UnusableIndexError("the file is damaged: it is not an index")
        return head[24:28]

    @contextmanager
    def _locked(self, *, shared: bool = False) -> Iterator[None]:
        try:
            with locked(f"{self.path}.lock", shared=shared, wait_seconds=_LOCK_SECONDS):
                yield
        except TimeoutError:
            raise BusyIndexError from None
        except OSError as fault:
            raise UnusableIndexError(f"its lock cannot be used: {os.strerror(fault.errno or 0)}") from None

    @contextmanager
    def _connected(self, path: str | None = None) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(os.fsencode(path or self.path), timeout=_LOCK_SECONDS, isolation_level=None)
        except sqlite3.Error as fault:
            raise UnusableIndexError(f"it cannot be opened: {fault}") from None
        try:
            for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = OFF", "mmap_size = 0"):
                connection.execute(f"PRAGMA {setting}")
            yield connection
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as fault:
            if isinstance(fault, sqlite3.OperationalError) and "full" in str(fault):
                raise UnusableIndexError("the disk is full") from None
            raise UnusableIndexError(f"the file is damaged: {fault}") from None
        finally:
            with suppress(sqlite3.Error):
                connection.close()

    def _require_ours(self, connection: sqlite3.Connection) -> None:
        schema = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
        if schema != list(_SCHEMA):
            raise UnusableIndexError("the file is damaged: its tables are not those of an index")
        rows = connection.execute(
            "SELECT key, data, checksum FROM extra WHERE kind = ? AND key = ?", (_IDENTITY, "")
        ).fetchall()
        if [_checked_extra(_IDENTITY, row)[1] for row in rows] != [self._identity]:
            raise UnusableIndexError("it is that of another version or of other directories")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _directories(connection: sqlite3.Connection) -> tuple[dict[int, tuple[bytes, int]], list[DirectoryRow]]:
    """Return path and its checksum of each directory by number, and the rows."""
    numbered: dict[int, tuple[bytes, int]] = {}
    rows: list[DirectoryRow] = []
    for number, path, stamp, data, checksum in connection.execute("SELECT * FROM directory"):
        if _directory_checksum(number, path, stamp, data) != checksum:
            raise UnusableIndexError("the file is damaged: a checksum is wrong")
        numbered[number] = path, crc32(path)
        rows.append((path, stamp, data))
    return numbered, rows


def _skills(paths: dict[int, tuple[bytes, int]], found: Iterable[tuple[Any, ...]]) -> Iterator[SkillRow]:
    crc = crc32
    for key, number, child, stamp, copies, facts, data, checksum in found:
        path, seed = paths.get(number, _NOWHERE)
        sum_ = crc(facts, crc(f"{key}\0{child}\0{stamp}\0{copies}".encode(), seed))
        if (crc(data, sum_) if data else sum_) != checksum:
            raise UnusableIndexError("the file is damaged: a checksum is wrong")
        yield key, path, child, stamp, copies, facts, data


def _put_directories(connection: sqlite3.Connection, rows: Iterable[DirectoryRow], ids: dict[bytes, int]) -> None:
    """Add or replace rows, and add the numbers of new directories to `ids`."""
    following = max(ids.values(), default=0) + 1
    for path, stamp, data in rows:
        number = ids.get(path, following)
        following += number == following
        ids[path] = number
        values = (number, path, stamp, data, _directory_checksum(number, path, stamp, data))
        connection.execute("INSERT OR REPLACE INTO directory VALUES (?, ?, ?, ?, ?)", values)


def _put_skills(connection: sqlite3.Connection, rows: Iterable[SkillRow], ids: dict[bytes, int]) -> None:
    seeds = {path: (number, crc32(path)) for path, number in ids.items()}

    def sealed() -> Iterator[tuple[object, ...]]:
        for key, path, child, stamp, copies, facts, data in rows:
            number, seed = seeds[path]
            head = crc32(f"{key}\0{child}\0{stamp}\0{copies}".encode(), seed)
            yield key, number, child, stamp, copies, facts, data, crc32(data, crc32(facts, head))

    connection.executemany("INSERT OR REPLACE INTO skill VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sealed())


def _directory_checksum(number: int, path: bytes, stamp: int, data: bytes) -> int:
    return crc32(data, crc32(path, crc32(f"{number}\0{stamp}".encode())))


def _put_extra(connection: sqlite3.Connection, kind: str, rows: Mapping[str, bytes]) -> None:
    values = ((kind, key, data, _extra_checksum(kind, key, data)) for key, data in rows.items())
    connection.executemany("INSERT OR REPLACE INTO extra VALUES (?, ?, ?, ?)", values)


def _checked_extra(kind: str, row: tuple[str, bytes, int]) -> tuple[str, bytes]:
    key, data, checksum = row
    if _extra_checksum(kind, key, data) != checksum:
        raise UnusableIndexError("the file is damaged: a checksum is wrong")
    return key, data


def _extra_checksum(kind: str, key: str, data: bytes) -> int:
    return crc32(data, crc32(f"{kind}\0{key}".encode()))
