"""Cache of `prowess check`: results of an earlier run, for skills whose files, rules and settings are unchanged.

One private file holds the results of one command line: for each skill the stamp of its files (their `stat` values), a
digest of its settings and the result. The file has the digest of the rules, so an update of Prowess invalidates the
file. A file is ignored and written anew if it is damaged, belongs to another user or holds a finding that the skill
cannot have.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

import prowess
from prowess._internal.files.file_mark import mark_of
from prowess._internal.files.private_cache import PrivateCache
from prowess._internal.files.tree_stamp import TreeStamp  # noqa: TC001 -- msgspec decodes it
from prowess.cli.skill_result import SkillResult  # noqa: TC001 -- msgspec decodes it
from prowess.lint import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.cli.skill_result import StampedResult
    from prowess.cli.targets import Target
    from prowess.rule_engine import Judgement

_FORM = 1
_READERS = ("pyromark", "markdown_it", "yaml")  # libraries that findings depend on


class _Entry(Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    path: str
    judgement: str
    stamp: TreeStamp
    result: SkillResult


class _Results(Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    form: int
    rules: str
    entries: tuple[_Entry, ...]


class CheckCache:
    """The cached results of one command line: `paths` and the working directory."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._cache = PrivateCache("check")
        self._name = _name_of(paths)
        self._rules = _rules_digest()
        self._known = {(entry.stamp.root, entry.path): entry for entry in self._read()}
        self._kept: list[_Entry] = []
        self._new = False
        self._judgements: dict[int, tuple[Judgement, str]] = {}

    def result(self, target: Target, judgement: Judgement) -> SkillResult | None:
        """Return the result of an earlier run, or None if this run could give another result."""
        entry = self._known.get((target.directory or "", target.path))
        if entry is None or entry.judgement != self._judgement_digest(judgement):
            return None
        if not _can_be_of(target, entry.result) or not entry.stamp.holds():
            return None
        self._kept.append(entry)
        return entry.result

    def add(self, target: Target, judgement: Judgement, found: StampedResult) -> None:
        """Keep a result of this run, unless the skill's files could give another result in the next run."""
        if found.stamp is None or found.result.has_comments or not _can_be_of(target, found.result):
            return
        digest = self._judgement_digest(judgement)
        entry = _Entry(path=target.path, judgement=digest, stamp=found.stamp, result=found.result)
        try:
            msgspec.msgpack.encode(entry)
        except UnicodeEncodeError:
            return  # a name that is not UTF-8
        self._kept.append(entry)
        self._new = True

    def save(self) -> None:
        """Write the results of this run if they differ from those that were read."""
        if self._rules and (self._new or len(self._kept) != len(self._known)):
            results = _Results(form=_FORM, rules=self._rules, entries=tuple(self._kept))
            self._cache.write(self._name, msgspec.msgpack.encode(results))

    def _read(self) -> tuple[_Entry, ...]:
        data = self._cache.read(self._name) if self._rules else None
        if data is None:
            return ()
        try:
            results = msgspec.msgpack.decode(data, type=_Results)
        except (msgspec.DecodeError, ValueError, RecursionError):  # ValueError: text that is not UTF-8
            return ()
        return results.entries if (results.form, results.rules) == (_FORM, self._rules) else ()

    def _judgement_digest(self, judgement: Judgement) -> str:
        known = self._judgements.get(id(judgement))
        if known is None:  # the judgement itself is stored too, so that no other object gets its id
            digest = hashlib.sha256(repr(tuple(_settings(judgement))).encode()).hexdigest()
            known = self._judgements[id(judgement)] = (judgement, digest)
        return known[1]


def _name_of(paths: Sequence[str]) -> str:
    try:
        here = os.getcwd()
    except FileNotFoundError:
        here = ""  # the working directory was deleted; absolute paths still work
    return hashlib.sha256(os.fsencode("\0".join((here, *paths)))).hexdigest()


def _settings(judgement: Judgement) -> Iterator[tuple[object, ...]]:
    here: Judgement | None = judgement
    while here is not None:
        yield here.profile.name, here.selection, here.excluded
        here = here.floor


def _can_be_of(target: Target, result: SkillResult) -> bool:
    """Whether every finding names a known rule and a file of the skill."""
    lead = "" if target.path == "." else os.path.join(target.path, "")
    name = os.path.basename(target.directory or "")
    for found in result.findings:
        rule, path = RULES.get(found.rule), found.location.path
        if rule is None or rule.family != found.family or found.skill not in {None, name}:
            return False
        if path is None or not path.startswith(lead):
            return False
        inner = path[len(lead) :]
        if os.path.isabs(inner) or (".." in inner and ".." in inner.replace(os.sep, "/").split("/")):
            return False
    return True


def _rules_digest() -> str:
    """Return a digest of the code that makes findings: version and `stat` of each file.

    The digest is empty if a `stat` fails.
    """
    facts: list[object] = [prowess.__version__, sys.version]
    try:
        for name in _READERS:
            spec = find_spec(name)
            facts.append(None if spec is None or spec.origin is None else mark_of(os.stat(spec.origin)))
        waiting = [os.path.dirname(prowess.__file__)]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != "__pycache__":
                            waiting.append(entry.path)
                    else:
                        facts.append((entry.path, mark_of(entry.stat())))
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()
