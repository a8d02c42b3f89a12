"""The journal of a campaign: JSON lines that are only appended, each on the disk before anything rests on it.

    {"kind": "journal", "version": 1, "skill": …}     the first line: what the campaign is about
    {"kind": "started", "id": …, "reserved": …}       before a call is made
    {"kind": "answered", "id": …, "charged": …}       before its answer is handed on
    {"kind": "failed", "id": …}                       it gave no answer

Several processes may write one journal. Each write holds a lock on the file and first reads lines of others. The
incomplete last line of a killed process is cut off: no call relies on a line before it is complete and on the disk. Any
other line that cannot be read is an error, since it might be a charge. Beside the journal, the directory `requests` has
the form of every request by its digest.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from prowess._internal.files.atomic_write import sync_directory, write_all, write_atomically
from prowess._internal.files.file_lock import descriptor_locked
from prowess._internal.files.open_flags import READ
from prowess._internal.text.shape_faults import shape_fault
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import SkillError
from prowess.evals.recordings.drift import changed_files
from prowess.evals.recordings.request_form import form_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

VERSION = 1
JOURNAL, REQUESTS = "journal.jsonl", "requests"
MOST_BYTES = 4 * 1024 * 1024 * 1024  # of a journal
_MOST_FORM = 256 * 1024 * 1024  # bytes of a request's form
_LONGEST_HEADER = 16 * 1024 * 1024
_LONGEST_LINE = 512 * 1024 * 1024  # an answer has at most 64 MiB, and JSON writes a byte in six
_PIECE = 16 * 1024 * 1024  # bytes of one read
_WAIT_SECONDS = 60.0
_Count = Annotated[int, Meta(ge=0)]
_BEGINNING = b'{"kind":"journal"'


class JournalError(SkillError):
    """A journal cannot be used. `advice` states the remedy."""

    code = "unavailable"
    path: str
    reason: str
    advice: str
    sentence = "journal {path} {reason}; {advice}"


class JournalHeader(Struct, frozen=True, kw_only=True, tag_field="kind", tag="journal"):
    """The subject of a campaign. Only the same campaign may continue a journal.

    `skill` is the name of the skill. `files` are the digests of the files of all skills, by `SKILL/PATH`. `identity`
    are further facts that a resumed campaign must share, such as the model and the seed, by the option's name.
    """

    skill: str
    files: dict[str, str] = {}
    identity: dict[str, str | int | float | bool | None] = {}
    version: int = VERSION


class Amount(Struct, frozen=True, kw_only=True):
    """Tokens and nano-dollars. `nano_usd` is None if the price is unknown."""

    input_tokens: _Count
    output_tokens: _Count
    nano_usd: _Count | None = None


class StartedCall(Struct, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    """A call is about to be made. `request` is the digest of its form, `sequence` its place in the unit's execution."""

    id: str
    unit: str
    host: str
    request: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    sequence: _Count
    reserved: Amount


class AnsweredCall(Struct, frozen=True, kw_only=True, tag_field="kind", tag="answered"):
    """The answer of a call, and its charge. Secrets in it are redacted.

    `is_measured` is false if the provider did not report tokens; then `charged` is the reservation, and in doubt.
    `text` is the answer if it is UTF-8, else `data` (base64). `usd` is the cost as the model reported it.
    """

    id: str
    charged: Amount
    is_measured: bool = True
    refused: bool = False
    text: str | None = None
    data: bytes | None = None
    details: dict[str, str] = {}
    usd: float | None = None

    @property
    def content(self) -> bytes:
        """The bytes of the answer."""
        return self.text.encode() if self.text is not None else self.data or b""


class FailedCall(Struct, frozen=True, kw_only=True, tag_field="kind", tag="failed"):
    """A call gave no answer. It stays charged as reserved, unless `refused`: the provider rejected the request."""

    id: str
    reason: str
    refused: bool = False


JournalLine = StartedCall | AnsweredCall | FailedCall
_DECODER = msgspec.json.Decoder(JournalHeader | JournalLine)


class LinePlace(Struct, frozen=True, kw_only=True):
    """The place of a line in the file."""

    offset: int
    length: int


class Journal:
    """One journal, open for appending, or for reading only. Methods block. Use it as a context manager.

    Raises:
        JournalError: the file cannot be opened, is no journal, or is one of a newer version.
    """

    def __init__(self, path: str, *, writable: bool = True) -> None:
        self.path = path
        self._shown = printable_line(path)
        self._lock = threading.RLock()
        self._offset = 0
        self._line = 0
        self._broken: JournalError | None = None
        self._forms: set[str] = set()
        self._writable = writable
        self._descriptor = self._opened()

    @classmethod
    def create(cls, path: str, header: JournalHeader) -> Self:
        """Open the journal at `path`, and begin it with `header` if it is new.

        Raises:
            JournalError: as above, or the journal is of another campaign.
        """
        journal = cls(path)
        try:
            with journal.locked():
                if journal._is_new():
                    journal._require_no_requests()
                    journal._truncate(0)
                    journal.append(header)
                    sync_directory(os.path.dirname(path) or ".")
                    journal._offset = journal._line = 0  # the header is read as every line is
            journal.require_same(header)
        except BaseException:
            journal.close()
            raise
        return journal

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock: no other process, and no other thread of this one, appends meanwhile.

        Raises:
            JournalError: another process holds the lock for a minute, or an earlier write failed.
        """
        with self._lock:
            if self._broken is not None:
                raise self._broken
            try:
                with descriptor_locked(self._descriptor, wait_seconds=_WAIT_SECONDS):
                    yield
            except TimeoutError:
                advice = "look whether that process is stopped, and resume"
                raise self._fault("is locked by another process for more than a minute", advice) from None

    def append(self, line: JournalHeader | JournalLine) -> LinePlace:
        """Write one line and bring it to the disk. The caller holds the lock and has read everything before.

        Raises:
            JournalError: the disk is full or failed. The line is taken back, and no more is written.
        """
        data = msgspec.json.encode(line) + b"\n"
        place = LinePlace(offset=self._offset, length=len(data))
        try:
            os.lseek(self._descriptor, self._offset, os.SEEK_SET)
            write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except OSError as fault:
            with suppress(OSError):
                self._truncate(self._offset)
            advice = "free space or repair the disk, and resume"
            self._broken = self._fault(f"cannot be written: {fault.strerror}", advice)
            raise self._broken from fault
        self._offset += len(data)
        self._line += 1
        return place

    def added(self) -> Iterator[tuple[JournalLine, LinePlace]]:
        """Yield the lines that were added since the last call. The caller holds the lock, if the journal is writable.

        An unfinished last line is cut off, or left out if the journal is open for reading only.

        Raises:
            JournalError: a line cannot be read.
        """
        for data, place in self._complete_lines():
            self._line += 1
            line = self._decoded(data)
            if line is None or isinstance(line, JournalHeader) != (self._line == 1):
                reason = f"has a line {self._line} that cannot be read"
                self._broken = self._fault(reason, "restore it from a backup, or start a new iteration")
                raise self._broken
            if not isinstance(line, JournalHeader):
                yield line, place

    def header(self) -> JournalHeader:
        """Return the first line.

        Raises:
            JournalError: it is no header, or one of a newer version.
        """
        first = self._read(0, _LONGEST_HEADER).partition(b"\n")[0]
        try:
            fields = msgspec.json.decode(first, type=dict[str, object])
        except (msgspec.DecodeError, RecursionError):
            fields = {}
        version = fields.get("version")
        if fields.get("kind") != "journal" or not isinstance(version, int):
            raise self._fault("is no journal of evals", "name another folder with --out")
        if version > VERSION:
            reason = f"is of version {version}, and this program reads {VERSION}"
            raise self._fault(reason, "update prowess, or start a new iteration without --resume")
        try:
            return msgspec.convert(fields, JournalHeader)
        except msgspec.ValidationError as fault:
            raise self._fault(
                f"begins with a line that cannot be read ({shape_fault(fault, 'it')})", "start a new iteration"
            ) from None

    def require_same(self, header: JournalHeader) -> None:
        """Compare with the header of a campaign that wants to continue this journal.

        Raises:
            JournalError: it is of another skill, of other files, or of another campaign.
        """
        own = self.header()
        advice = "start a new iteration without --resume"
        if own.skill != header.skill:
            reason = f"is of skill {printable_line(own.skill)!r}, not {printable_line(header.skill)!r}"
            raise self._fault(reason, "name another folder with --out")
        if changed := changed_files(own.files, header.files):
            named = ", ".join(printable_line(name) for name in changed[:3])
            raise self._fault(f"was begun before these files changed: {named}", advice)
        for name in sorted(own.identity.keys() | header.identity.keys()):
            before, wanted = own.identity.get(name), header.identity.get(name)
            if before != wanted:
                reason = f"was begun with {printable_line(name)} {before!r}, not {wanted!r}"
                raise self._fault(reason, advice)

    def read(self, place: LinePlace) -> AnsweredCall:
        """Read the line of an answer again.

        Raises:
            JournalError: the file was changed by somebody else.
        """
        line = self._decoded(self._read(place.offset, place.length).rstrip(b"\n"))
        if not isinstance(line, AnsweredCall):
            raise self._fault("was changed while it was read", "restore it from a backup, or start a new iteration")
        return line

    def keep_form(self, form: str) -> str:
        """Write the form of a request, once, and return its digest. It is not needed to resume, so it is not synced.

        Raises:
            JournalError: it cannot be written.
        """
        digest = form_digest(form)
        if digest in self._forms:
            return digest
        directory = os.path.join(os.path.dirname(self.path), REQUESTS)
        path = os.path.join(directory, f"{digest}.z")
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            if os.path.islink(directory):
                raise NotADirectoryError(errno.ENOTDIR, "it is a symbolic link")
            if not os.path.exists(path):
                data = zlib.compress(form.encode("utf-8", "surrogatepass"), 6)
                write_atomically(path, data, sync=False)
        except OSError as fault:
            reason = f"cannot keep a request in {printable_line(directory)}: {fault.strerror}"
            raise self._fault(reason, "free space or change the permissions, and resume") from fault
        self._forms.add(digest)
        return digest

    def form(self, digest: str) -> str | None:
        """Return the form of a recorded request, or None if its file is missing or was changed."""
        path = os.path.join(os.path.dirname(self.path), REQUESTS, f"{digest}.z")
        try:
            descriptor = os.open(path, READ)
            with open(descriptor, "rb") as file:
                packed = file.read(_MOST_FORM)
            form = zlib.decompressobj().decompress(packed, _MOST_FORM).decode("utf-8", "surrogatepass")
        except (OSError, zlib.error, UnicodeDecodeError):
            return None
        return form if form_digest(form) == digest else None

    def close(self) -> None:
        """Close the file. Closing twice has no effect."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _opened(self) -> int:
        # The flags of `READ` keep a link from being followed and a pipe from being waited for.
        flags = READ | os.O_RDWR | os.O_CREAT if self._writable else READ
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except OSError as fault:
            if os.path.islink(self.path):
                raise self._fault("is a symbolic link", "replace it by the file itself") from None
            advice = "name a folder that you may write with --out" if self._writable else "name a recorded run"
            raise self._fault(f"cannot be opened: {fault.strerror}", advice) from None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            os.close(descriptor)
            what = "is no regular file" if not stat.S_ISREG(status.st_mode) else "is larger than 4 GiB"
            raise self._fault(what, "name another folder with --out")
        return descriptor

    def _is_new(self) -> bool:
        """Return whether there is no first line. A process that is killed while it begins a journal leaves a part."""
        data = self._read(0, _LONGEST_HEADER)
        return b"\n" not in data and (_BEGINNING.startswith(data) or data.startswith(_BEGINNING))

    def _require_no_requests(self) -> None:
        """Require that no request was kept: a journal that lost its lines would forget charges."""
        with suppress(OSError):
            if any(name.endswith(".z") for name in os.listdir(os.path.join(os.path.dirname(self.path), REQUESTS))):
                reason = "is empty, but calls were made: their requests are beside it"
                raise self._fault(reason, "restore it from a backup, or start a new iteration")

    def _complete_lines(self) -> Iterator[tuple[bytes, LinePlace]]:
        offset, data = self._offset, bytearray()  # the bytes that were read and not given out begin at the offset
        while piece := self._read(offset + len(data), _PIECE):
            start, unseen = 0, len(data)
            data += piece
            while (end := data.find(b"\n", max(start, unseen))) >= 0:
                yield bytes(data[start:end]), LinePlace(offset=offset + start, length=end + 1 - start)
                start = end + 1
            del data[:start]
            offset += start
            if len(data) > _LONGEST_LINE:
                reason = f"has a line {self._line + 1} that is longer than {_LONGEST_LINE >> 20} MiB"
                self._broken = self._fault(reason, "restore it from a backup, or start a new iteration")
                raise self._broken
        self._offset = offset
        if data and self._writable:
            self._truncate(self._offset)

    def _read(self, offset: int, most: int) -> bytes:
        """Read from `offset` to the end, at most `most` bytes."""
        found = bytearray()
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            while len(found) < most and (data := os.read(self._descriptor, min(most - len(found), _PIECE))):
                found += data
        return bytes(found)

    def _decoded(self, data: bytes) -> JournalHeader | JournalLine | None:
        try:
            return _DECODER.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)
        os.fsync(self._descriptor)
        self._offset = size

    def _fault(self, reason: str, advice: str) -> JournalError:
        return JournalError(self._shown, reason, advice)
