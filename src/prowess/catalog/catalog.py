"""`Catalog`: lists skills, resolves names, and reads single skills in full.

A catalog has a list of sources and one immutable index, which `refresh` replaces as a whole. Reading methods use the
current index, so they are consistent and need no lock. Names are looked up in the index and never joined to a path.
The sources are scanned when the index is first needed, not when the catalog is made. A request for one name before the
first scan looks only at the copies of this name and at the searched directories, if the index on disk has them.
"""

from __future__ import annotations

import os
from _thread import allocate_lock  # importing `threading` takes too long
from typing import TYPE_CHECKING

from prowess._internal.collector import paused
from prowess.catalog.catalog_index import CatalogIndex
from prowess.catalog.entry import key_of
from prowess.catalog.layers import Layer, ranks_of
from prowess.catalog.matching import SUGGESTED
from prowess.catalog.memo.index import Index, is_switched_off
from prowess.catalog.memo.loaded import LoadedSkills
from prowess.catalog.memo.readings import NoMemo
from prowess.catalog.memo.seen import Seen
from prowess.catalog.scan import Scan
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.enterprise import deployed_sources, enterprise_sources
from prowess.catalog.sources.precedence import by_precedence
from prowess.catalog.sources.search import require_none, search
from prowess.catalog.viewing.guards import Guards
from prowess.catalog.viewing.viewer import Viewer
from prowess.errors import SkillNotFoundError, SkillParseError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Sequence
    from typing import Unpack

    from prowess._internal.layers_order import LayersOrder
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.catalog.matching.match import Match
    from prowess.catalog.matching.rankings import Rankings
    from prowess.catalog.memo.readings import Memo
    from prowess.catalog.resolution import Resolution
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.viewing.audience import Audience, AudienceKeywords
    from prowess.catalog.watching.skill_changes import SkillChange
    from prowess.diagnostics import Diagnostic
    from prowess.format.skill import Skill


class Catalog:
    """Skills from a few directories.

        catalog = Catalog("examples/skills")
        for entry in catalog.entries():
            print(entry.name, entry.description)

    A root that is passed here needs no trust, and belongs to the project layer. Roots replace the personal, project and
    plugin layers. They never replace the enterprise layer, which is searched too. `Catalog.discover` searches all four
    layers.

    With `live`, edits of a loaded skill take effect at once; use it for an author's own skills. With `trust_project`,
    sources of an untrusted project are used too. `enterprise_root` is an additional directory of the enterprise layer.
    `deployed` are private directories with skills that an organisation has deployed, for sessions with its store.
    `only` means that the enterprise layer is not searched, for tests on a machine that has no enterprise skills.
    `layers_order` is `personal-first` (the default) or `project-first` (`prowess.catalog.layers`). Without `index`, and
    if `PROWESS_NO_INDEX` is set, the index on disk is neither used nor written; it changes no answer.
    `disabled` are patterns of names that are hidden (`prowess.catalog.viewing.disabled`). `agent`, `tenant` and
    `environment` are the audience (`prowess.catalog.viewing.audience`).

    Raises:
        InvalidArgumentsError: `only` was given on a machine with enterprise skills, there is no such order, or
            `disabled` is not a list of patterns.
        ConfigurationError: `disabled` in the user's `config.toml` is faulty; raised by the first use.
    """

    def __init__(
        self,
        *roots: str | os.PathLike[str] | CatalogSource,
        live: bool = False,
        trust_project: bool = False,
        enterprise_root: str | None = None,
        deployed: Iterable[str] = (),
        only: bool = False,
        layers_order: LayersOrder | None = None,
        disabled: Iterable[str] = (),
        index: bool = True,
        **audience: Unpack[AudienceKeywords],
    ) -> None:
        # Sources are scanned by precedence: a directory that is in two layers belongs to the higher one.
        self._ranks = ranks_of(layers_order)
        sources = [_as_source(root, live=live) for root in roots]
        enterprise = [*enterprise_sources(enterprise_root), *deployed_sources(deployed)]
        added: Sequence[CatalogSource] = ()
        if only:
            require_none(enterprise)
        else:
            there = {source.named for source in sources if source.layer is Layer.ENTERPRISE}
            sources += (added := [source for source in enterprise if source.named not in there])
        self._enterprise = added
        self._viewer = Viewer(audience, disabled)
        self._sources: tuple[CatalogSource, ...] = by_precedence(sources, self._ranks)
        self._trust_project = trust_project
        self._lock = allocate_lock()
        self._loaded = LoadedSkills()
        self._guards: Guards | None = None
        self._generation = 0
        self._rankings: Rankings | None = None
        self.index = Index(self._sources) if index and not is_switched_off() else None
        self._scanned: CatalogIndex | None = None
        self._seen: Seen | None = None

    @classmethod
    def discover(
        cls,
        *,
        cwd: str | os.PathLike[str] | None = None,
        plugins: Iterable[str | os.PathLike[str]] = (),
        trust_project: bool = False,
        enterprise_root: str | None = None,
        deployed: Iterable[str] = (),
        layers_order: LayersOrder | None = None,
        disabled: Iterable[str] = (),
        index: bool = True,
        **audience: Unpack[AudienceKeywords],
    ) -> Catalog:
        """Search the four layers, as seen from `cwd`. Defaults to the current working directory.

        Skills of an untrusted project are not listed; one notice states their number. With `trust_project`, this
        catalog lists them anyway. The trust store is read again at each refresh. `Catalog` describes the other
        arguments.
        """
        # Imported here: a catalog of given roots needs neither the default directories nor the trust store.
        from prowess.catalog.project import default_sources

        start = None if cwd is None else os.fspath(cwd)
        try:
            here = os.getcwd() if start is None else os.path.abspath(start)
        except OSError:
            here = None  # the working directory was deleted, so there is no project
        sources = default_sources(here, [os.fspath(plugin) for plugin in plugins], enterprise_root=enterprise_root)
        return cls(
            *sources,
            trust_project=trust_project,
            deployed=deployed,
            layers_order=layers_order,
            disabled=disabled,
            index=index,
            **audience,
        )

    @property
    def _index(self) -> CatalogIndex:
        """The result of the last scan. The first use scans."""
        index = self._scanned
        if index is None:
            with self._lock:
                index = self._scanned
                if index is None:  # another thread may have scanned during the wait
                    index = self._scanned = self._first_look()
        return index

    # ── listing ────────────────────────────────────────────────────────────────────────────────────────

    def entries(self, *, prefix: str = "", tags: Sequence[str] = ()) -> tuple[SkillEntry, ...]:
        """Return the skills in use, sorted by name.

        With `prefix`, return only those whose names begin with it; with `tags`, only those that have all these tags.
        """
        entries = self._index.entries
        if prefix:
            entries = tuple(entry for entry in entries if entry.name.startswith(prefix))
        wanted = (tags,) if isinstance(tags, str) else tags
        return tuple(entry for entry in entries if entry.has_tags(wanted)) if wanted else entries

    def all_entries(self) -> tuple[SkillEntry, ...]:
        """Return every copy of every skill, sorted by name. Copies of one name are in the order of precedence."""
        return self._index.copies

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Findings on skills that were skipped or shadowed, and warnings about listed skills."""
        return self._index.diagnostics

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The findings on skills that were skipped or shadowed: errors, and findings of the catalog itself."""
        return self._index.problems

    @property
    def warned_files(self) -> int:
        """The number of files of listed skills with warnings; `diagnostics` has the warnings."""
        return self._index.warned_files

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices for the person who runs the host: unlisted untrusted skills, or an unusable trust store."""
        return self._index_of("").notices  # no skill is needed, so the searched directories are enough

    @property
    def sources(self) -> tuple[CatalogSource, ...]:
        """The sources in the order of precedence, without default enterprise directories that do not exist."""
        return tuple(
            source for source in self._sources if source not in self._enterprise or os.path.lexists(source.named)
        )

    @property
    def every_source(self) -> tuple[CatalogSource, ...]:
        """The sources in the order of precedence, with those whose directories do not exist."""
        return self._sources

    @property
    def last_scan(self) -> Seen | None:
        """The directories, links and files that the last scan saw; None before the first one."""
        return self._seen

    @property
    def audience(self) -> Audience:
        """The audience of the catalog, as given by the caller."""
        return self._viewer.audience

    def seen_by(self, *, also: str | None = None, **audience: Unpack[AudienceKeywords]) -> Catalog:
        """Return this catalog as another audience sees it. A value of `audience` that is None stays as it is.

        If the audience does not change, this catalog is returned. Otherwise the two catalogs have the same sources, but
        are refreshed separately. `also` is the `root_dir` of a skill that is visible whatever its scope is.
        """
        viewer = self._viewer.for_another(audience, also)
        if viewer.audience == self.audience and also is None:
            return self
        other = object.__new__(type(self))
        with self._lock:
            other.__dict__.update(self.__dict__)
        other._viewer, other._lock, other._loaded, other._rankings = viewer, allocate_lock(), LoadedSkills(), None
        other.index = None if self.index is None else Index(self._sources)
        if other._scanned is not None and other._scanned.depends_on_audience():
            other._scanned = other._first_look() if other._seen is None else other._look(other._seen.memo())
        return other

    @property
    def generation(self) -> int:
        """A number that grows each time `refresh` finds a difference from the scan before. Does not scan; 0 first."""
        return self._generation

    # ── one name ───────────────────────────────────────────────────────────────────────────────────────

    def get(self, name: str, location: str | None = None) -> SkillEntry:
        """Return the copy that `name` refers to: the winner, `name@plugin`, or the listed copy at `location`.

        `plugin/name` is another form of `name@plugin`. It is looked up and never used as a path.

        Raises:
            SkillNotFoundError: no such skill. The error has suggestions, or the reason why the skill is not listed.
        """
        if (entry := self.find(name, location)) is None:
            raise self._not_found(self._index, name, location)
        return entry

    def find(self, name: str, location: str | None = None) -> SkillEntry | None:
        """Return what `get` returns, or None. Faster than `get` for unknown names: it suggests none."""
        index = self._index_of(name)
        entry = index.named(name, location)
        return self._index.named(name, location) if entry is None and index is not self._scanned else entry

    def knows_copy(self, name: str) -> bool:
        """Whether `name` is `plugin/name` or `name@plugin` and there is such a copy, listed or held back."""
        index = self._index_of(name)
        return index.has_copy(name) or (index is not self._scanned and self._index.has_copy(name))

    def why(self, name: str) -> Resolution:
        """Explain every copy of a name: its state, the rule that decided, and what to change.

        Copies that are skipped, held back or hidden from this audience are explained too; if no copy is used, the
        winner is None. If `name` has the form `name@plugin` or `plugin/name`, the plain name is explained.

        Raises:
            SkillNotFoundError: no copy of this name is known. The error has suggestions.
        """
        index = self._index_of(name)
        found = index.explained(index.key_named(name))
        if (found is None or found.winner is None) and index is not self._scanned:
            index = self._index
            found = index.explained(index.key_named(name))
        if found is None:
            raise self._not_found(index, name)
        return found

    def _not_found(self, index: CatalogIndex, name: str, location: str | None = None) -> SkillNotFoundError:
        if (reason := index.why_missing(name, location)) is not None:
            return SkillNotFoundError(name, (), reason)
        # A skill in a directory of this name has another `name` in its front matter, often by mistake.
        key = key_of(name)
        meant = [entry.name for entry in index.entries if key_of(os.path.basename(entry.root_dir)) == key]
        meant += [match.name for match in self.match(name, SUGGESTED)]
        return SkillNotFoundError(name, tuple(dict.fromkeys(meant))[:SUGGESTED])

    # ── matching ───────────────────────────────────────────────────────────────────────────────────────

    def match(
        self, task: str, limit: int = 5, *, bodies: bool = False, among: Collection[SkillEntry] | None = None
    ) -> tuple[Match, ...]:
        """Return at most `limit` skills that fit a task, best first; none if no skill fits well enough.

        Compares the words of the task with names, descriptions, tags and `when_to_use`; with `bodies`, also with the
        instructions. A skill that the task names as `/name` or `$name` is first. Only skills `among` the given entries
        are returned; words get their weights from the whole catalog.
        """
        return self.rankings.match(task, limit, bodies=bodies, among=among)

    @property
    def rankings(self) -> Rankings:
        """What `match` asks; it can also write its postings into the index."""
        if self._rankings is None:
            from prowess.catalog.matching.rankings import Rankings  # Imported here: a listing does not match.

            view = " ".join(f"{layer}:{rank}" for layer, rank in sorted(self._ranks.items()))
            # The number is read before the index, so a ranking of a newer index is brought up to date once more.
            self._rankings = Rankings(self.index, view, lambda: (self._generation, self._index), self._look_at)
        return self._rankings

    # ── one skill in full ──────────────────────────────────────────────────────────────────────────────

    def skill(self, name: str, location: str | None = None) -> Skill:
        """Read a skill in full: body, files and description, all from one state of the disk.

        If the skill was read before and all its files are unchanged, the object of that earlier read is returned. If
        its front matter differs from the listed one, the catalog is refreshed, so that the listing matches the returned
        skill.

        Raises:
            SkillNotFoundError: as for `get`, also if the skill was removed or broken after it was listed.
            UnavailableError: the skill is being written to while it is read.
        """
        entry = self.get(name, location)
        if (unchanged := self.at_rest(entry)) is not None:
            return unchanged
        try:
            known = self._loaded.read(entry)
        except (OSError, SkillParseError, UnavailableError):
            self.refresh()
            entry = self.get(name, location)
            known = self._loaded.read(entry)
        skill = known.skill
        if not entry.agrees_with(skill):
            self.refresh()
            if (entry := self.get(name, location)).root_dir != skill.root_dir:
                return self.skill(name, location)
        if entry.agrees_with(skill):
            known.entry = entry
            entry.take_digest(known.document, skill.document_digest)
        return skill

    def at_rest(self, entry: SkillEntry) -> Skill | None:
        """Return the skill that was read for this entry if `stat` shows no change since, or None.

        Calls `stat` a few times and opens no file. If None is returned, call `skill`.
        """
        return self._loaded.at_rest(entry)

    # ── refreshing ─────────────────────────────────────────────────────────────────────────────────────

    def refresh(self) -> None:
        """Scan the sources again. Readers see the old index or the new one; unchanged entries stay the same objects."""
        with self._lock:
            before, seen = self._scanned, self._seen
            with paused():
                index = self._first_look() if seen is None else self._look(seen.memo())
            # The index is set before its number, so a caller that caches by number never caches data of an older index.
            self._scanned, differs = index, before is not None and index.differs_from(before)
            if differs:
                self._generation += 1
                self._loaded.drop_unlisted(index.copies)

    def look_again(self, entries: Iterable[SkillEntry] = ()) -> None:
        """Refresh the catalog if something moved among the files of `entries`, the searched directories and the links.

        Whether a project is trusted, and which directory each source names, is asked anew. A bounded part of the other
        entries is examined too, another part at each call. So each edit is found after some calls, and the cost of a
        call depends on the directories and on `entries`, not on the number of skills. Calls `stat` alone, unless
        something moved.
        """
        seen = self._seen
        if seen is None or self._guards is None or self._guards.moved() or not seen.is_current(entries):
            self.refresh()

    def watch(
        self, *, stopped: Callable[[], bool] | None = None, tell: Callable[[Notice], object] | None = None
    ) -> Generator[tuple[SkillChange, ...], None, None]:
        """Yield the changes of the skills in use from this call on, and keep the catalog up to date meanwhile.

            for batch in catalog.watch():
                for change in batch:
                    print(change.event, change.name)

        Changes in quick succession come in one batch, sorted by name. The generator blocks between batches, until
        `stopped()`, which is called several times per second, returns True. Close the generator to stop the threads
        that wait for the system. If the system cannot notify of changes, the catalog is looked at every few seconds,
        and `tell` is called with a notice that gives the reason (by default it goes to the log `prowess.catalog`).
        """
        # Imported here: a listing needs neither threads nor digests.
        from prowess.catalog.watching.catalog_watch import CatalogWatch, batches_of, never

        return batches_of(CatalogWatch(self, tell=tell), self, self._index.entries, stopped or never)

    def _first_look(self) -> CatalogIndex:
        with paused():
            return self._look(NoMemo()) if self.index is None else self.index.used_by(self._look)

    def _index_of(self, name: str) -> CatalogIndex:
        """Return the last scan. Before the first one, look only at the copies of `name` if the index on disk allows."""
        keys = {key_of(part) for part in (name, name.rpartition("@")[0], name.rpartition("/")[2]) if part}
        return self._look_at(keys) or self._index

    def _look_at(self, keys: Collection[str]) -> CatalogIndex | None:
        """Look only at the copies of these names. None after the first scan, or if the index on disk does not allow."""
        if self._scanned is not None or self.index is None:
            return None
        with self._lock:
            return self.index.used_for(keys, self._look)

    def _look(self, memo: Memo) -> CatalogIndex:
        self._guards = Guards(self._sources)
        scan = Scan(memo)
        view, left_out, notices = search(self._sources, scan, self._viewer, trust_project=self._trust_project)
        entries = scan.finished()
        if not memo.is_partial:
            self._seen = Seen(entries, scan.learnt)
            if self.index is not None:
                self.index.save(memo, scan)
        entries, hidden = view.split(entries, scan)
        return CatalogIndex(
            entries,
            ranks=self._ranks,
            hidden=hidden,
            diagnostics=scan.diagnostics,
            skipped=scan.skipped,
            held_back=left_out,
            notices=tuple(notices),
            has_patterns=view.has_patterns,
        )


def _as_source(root: str | os.PathLike[str] | CatalogSource, *, live: bool) -> CatalogSource:
    if isinstance(root, str | os.PathLike):
        path = os.fspath(root)
        return DirectorySource(path, layer=Layer.PROJECT, label=path, live=live, named=True)
    return root
