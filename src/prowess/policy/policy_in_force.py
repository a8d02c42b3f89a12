"""The current policy: the files of this machine and this user, a named file, and a policy from the host.

    in_force = PolicyInForce()
    in_force.now().decide(call)

The files are checked with one `stat` each whenever the policy is requested, and read again if they changed. A new rule
therefore applies to the next call of every running session. If a file becomes unreadable or invalid, every call is
denied. The earlier content is not used, and the file is not treated as missing.

One policy decides about a call from beginning to end: inside `during_call`, `now` always returns the same policy.

The policy files are the machine's, the user's, and the file that a command names. On an enrolled machine, those of its
organisation come first, and every call is denied if they are missing, could be changed by others, or are too old.
No file can permit a call that another file denies. The publishers files of the machine and the user are followed in the
same way, because rules may have the names of publishers, and so are the blocked skills (`blocks.json`) beside them, and
the approvals beside each file.

A session with the store of an organisation also has the organisation's policies, blocks and approvals, all of one
generation. Each call asks for the generation, and reads them again if there is another one.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.enrolment import bundle_fault, enrolment
from prowess._internal.files.file_mark import Mark, last_change, mark_of, settled_before
from prowess._internal.places import (
    BLOCKS_FILE,
    ENROLMENT_FILE,
    MACHINE_POLICY,
    PUBLISHERS_FILE,
    block_places,
    bundle_folder,
    others_can_change,
    policy_places,
    prowess_home,
)
from prowess._internal.text.canonical_json import sha256_of
from prowess.errors import PolicyError, StoreError
from prowess.policy.approvals.places import approvals_for, approvals_places
from prowess.policy.blocks.blocked import Blocks, load_blocks
from prowess.policy.facts.publisher_names import publishers_trusted_by, signers_meant
from prowess.policy.facts.requester import this_process
from prowess.policy.machine.machine_rules import DEFAULT_MAX_OFFLINE
from prowess.policy.machine.offline import offline_fault
from prowess.policy.organisation.known_generation import current_generation
from prowess.policy.policy import Policy
from prowess.policy.policy_file import YAML_ENDINGS, PolicyFile, policy_file_of, read_policy_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.policy.facts.requester import Requester
    from prowess.policy.organisation.organisation_rules import OrganisationRules, OrganisationSource
    from prowess.policy.rule import PolicyRule
    from prowess.signing.publishers import Publisher

ENTERPRISE_FILE = MACHINE_POLICY


def load_policy(policy_file: str | None = None, *, enterprise_file: str = ENTERPRISE_FILE) -> Policy:
    """Return the current policy, with `policy_file` as the lowest layer.

    Raise PolicyError with every fault of every file. Pass it to `Policy.closed` for a policy that denies every call.
    """
    files = _with_publishers(_files(policy_file, enterprise_file), enterprise_file)
    _require_bundle(enterprise_file, _max_offline(files))
    approvals = approvals_for(files, enterprise_file, prowess_home())
    return Policy(files=files, blocks=load_blocks(enterprise_file), approvals=approvals)


def policy_alone(path: str, *, enterprise_file: str = ENTERPRISE_FILE) -> Policy:
    """Return the policy of one file, without the files of this machine and this user. Raise PolicyError."""
    return Policy(files=_with_publishers((read_policy_file(path),), enterprise_file))


def policy_of_text(name: str, text: str) -> Policy:
    """Return the policy of one text, as `policy_alone` does of a file. `name` is its name in messages."""
    return policy_alone_of(policy_file_of(name, text.encode("utf-8", "surrogatepass")))


def policy_alone_of(file: PolicyFile) -> Policy:
    """Return the policy of one file that was read already, as `policy_alone` does."""
    return Policy(files=_with_publishers((file,), ENTERPRISE_FILE))


def _max_offline(files: Iterable[PolicyFile]) -> int:
    return min((file.max_offline for file in files if file.max_offline is not None), default=DEFAULT_MAX_OFFLINE)


def _require_bundle(enterprise_file: str, max_offline: int) -> None:
    """Raise PolicyError if this machine is enrolled, and its bundle is missing, not root's alone, or too old."""
    if bundle_folder(enterprise_file) is None:
        return
    try:
        enrolment()
    except ValueError as fault:
        raise PolicyError((str(fault),)) from None
    if (reason := bundle_fault() or offline_fault(max_offline)) is not None:
        raise PolicyError((reason,))


def _files(policy_file: str | None, enterprise_file: str) -> tuple[PolicyFile, ...]:
    files: list[PolicyFile] = []
    problems: list[str] = []
    always = list(filter(_may_be_there, policy_places(enterprise_file)))
    for path in (*always, *([] if policy_file is None else [policy_file])):
        try:
            if path in always:
                _require_safe(path, enterprise_file)
            files.append(read_policy_file(path))
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(tuple(problems))
    return tuple(files)


def _require_safe(path: str, enterprise_file: str) -> None:
    """Raise PolicyError if someone who may not decide here could change this file, which applies always.

    Those of an organisation are checked as a whole, by `bundle_fault`.
    """
    if os.path.dirname(path) == bundle_folder(enterprise_file):
        return
    is_users = os.path.dirname(path) == prowess_home() != os.path.dirname(enterprise_file)
    try:
        weakness = others_can_change(path, is_machine=not is_users and enterprise_file == MACHINE_POLICY)
    except OSError:
        return  # reading it reports why
    if weakness is not None:
        raise PolicyError((f"{path} is not used, because someone else could change it: {weakness}",))


def _with_publishers(files: Iterable[PolicyFile], enterprise_file: str) -> tuple[PolicyFile, ...]:
    """Return the files, each with the publishers that it trusts. They are read only if a rule names one."""
    found = []
    for file in files:
        if file.packages is not None:
            file = replace(file, packages=replace(file.packages, machine_file=enterprise_file))  # noqa: PLW2901 -- the same file, completed
        if any(match.names_publishers for rule in file.rules for match in rule.matches):
            trusted = publishers_trusted_by(enterprise_file if file.is_shared else file.path, enterprise_file)
            file = replace(file, rules=tuple(_with_signers(rule, trusted) for rule in file.rules))  # noqa: PLW2901 -- as above
        found.append(file)
    return tuple(found)


def _with_signers(rule: PolicyRule, trusted: Sequence[Publisher]) -> PolicyRule:
    matches = (
        replace(match, signers=signers_meant(match.patterns, trusted)) if match.names_publishers else match
        for match in rule.matches
    )
    return replace(rule, matches=tuple(matches))


def _version_of(file: PolicyFile) -> str:
    signers = [match.signers for rule in file.rules for match in rule.matches if match.signers]
    return f"{file.digest or repr(file)}{signers or ''}"


def _may_be_there(path: str) -> bool:
    """Return False only if the file is surely missing. If unsure, reading it reports why and denies every call."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


_Marks = tuple[Mark | str | None, ...]
_taken: ContextVar[_Taken | None] = ContextVar("prowess_policy_of_this_call", default=None)


class _Taken(Struct):
    """The policy of one call. `open` becomes false when the call ends, because a task of the call may run longer."""

    source: PolicyInForce
    policy: Policy
    open: bool = True


class PolicyInForce:
    """The files of this machine and this user, then `policy_file`, then `given`.

    No layer can permit what another denies.

    `given` is a policy that a host created or read. A file that is both in `given` and among the loaded files is used
    once. If `given` is unrestricted for tests, the user's file and `policy_file` are not read. On a machine with a
    policy file of its own, an unrestricted `given` makes every call denied. `who` are the known facts about who makes
    the calls; if None, those of this process. `organisations` are sources of decisions above every file.
    Safe to use from several threads.
    """

    def __init__(
        self,
        given: Policy | None = None,
        *,
        policy_file: str | None = None,
        enterprise_file: str = ENTERPRISE_FILE,
        who: Requester | None = None,
        organisations: Iterable[OrganisationSource] = (),
    ) -> None:
        self._organisations = tuple(organisations)
        self._decided: dict[int, OrganisationRules] = {}  # the last read, by the place in `_organisations`
        self._given = given or Policy()
        self._who = this_process() if who is None else who
        self._next_end: float | None = None
        self._policy_file, self._enterprise_file = policy_file, enterprise_file
        self._lock = threading.Lock()
        self._marks: _Marks | None = None
        # Until a policy was read: an organisation can demand that refusals are in its log.
        self._policy = Policy(known_sinks=frozenset({"central"})) if self._organisations else Policy()
        self._error: PolicyError | StoreError | None = None
        self._max_offline = DEFAULT_MAX_OFFLINE

    def require(self) -> Policy:
        """Return the current policy for a command that starts.

        Raises:
            PolicyError: a file or a decision of the organisation is faulty; it has every fault of every file.
            StoreError: the decisions of the organisation cannot be read.
        """
        policy = self.now()
        if self._error is not None:
            raise self._error
        return policy

    def now(self) -> Policy:
        """Return the policy with the current contents of its files.

        Inside `during_call`, return the policy of that call.
        """
        if (taken := _taken.get()) is not None and taken.source is self and taken.open:
            return taken.policy
        with self._lock:
            marks = self._look()
            if marks is None or marks != self._marks:
                policy = self._read_one_bundle()
                contents = [*map(_version_of, policy.files), *(file.digest for file in policy.blocks.files)]
                contents += [one.version for one in policy.approvals if one.version]
                version = sha256_of("\n".join(contents).encode())
                if (version, policy.fault) != (self._policy.version, self._policy.fault):
                    self._replace(replace(policy, version=version, who=self._who))
                # A store that answered once, and then not, is asked again.
                self._marks = None if isinstance(self._error, StoreError) else marks
            if self._next_end is not None and time.time() >= self._next_end:
                self._replace(self._policy)  # a rule has ended, so values computed from the policy may be outdated
            return self._policy

    def _replace(self, policy: Policy) -> None:
        self._policy = replace(policy, generation=self._policy.generation + 1)
        now = time.time()
        ends = (*(end for file in policy.files for end in file.ends), *policy.ends_of_approvals)
        self._next_end = min((end for end in ends if end > now), default=None)

    @contextmanager
    def during_call(self) -> Iterator[Policy]:
        """Fix the policy for one call: inside the block, `now` always returns one policy, even if the files change."""
        policy = self.now()
        taken = _Taken(self, policy)
        token = _taken.set(taken)
        try:
            yield policy
        finally:
            taken.open = False
            _taken.reset(token)

    def requested_by(self, who: Requester) -> None:
        """Replace the facts about who makes the calls, for decisions from the next call on."""
        with self._lock:
            self._who = who
            self._replace(replace(self._policy, who=who))

    def apart(self, who: Requester | None = None, organisation: OrganisationSource | None = None) -> PolicyInForce:
        """Return an independent object for the same files, for a forked session. `who` replaces the requester.

        `organisation` is added to those whose decisions hold.

        A fork runs inside a call of its parent. During that call the parent's object always returns one policy. A fork
        that used the parent's object would therefore not see changes of the files between the fork's calls.
        """
        asking = self._who if who is None else who
        return PolicyInForce(
            self._given,
            policy_file=self._policy_file,
            enterprise_file=self._enterprise_file,
            who=asking,
            organisations=_with_organisation(self._organisations, organisation),
        )

    def _places(self) -> tuple[str, ...]:
        named = () if self._policy_file is None else (self._policy_file,)
        places = policy_places(self._enterprise_file)
        publishers = (os.path.join(folder, PUBLISHERS_FILE) for folder in dict.fromkeys(map(os.path.dirname, places)))
        bundle = bundle_folder(self._enterprise_file)
        of_bundle = () if bundle is None else (os.path.join(bundle, BLOCKS_FILE), ENROLMENT_FILE)
        others = (*named, *(file.path for file in self._given.files if not file.is_shared))
        approvals = approvals_places(self._enterprise_file, prowess_home(), others) if self._follows_approvals else ()
        return (*places, *of_bundle, *publishers, *block_places(self._enterprise_file), *named, *approvals)

    @property
    def _follows_approvals(self) -> bool:
        return self._policy.needs_trees or self._policy.fault is not None

    def _look(self) -> _Marks | None:
        """Return the `stat` values of each file. None if a file has just changed: a second change may go unnoticed."""
        marks: list[Mark | str | None] = []
        before = settled_before()
        for path in self._places():
            is_link = False
            try:
                found = os.lstat(path)  # most of these files are missing, and one look tells
                if is_link := stat.S_ISLNK(found.st_mode):
                    found = os.stat(path)
            except FileNotFoundError:
                marks.append("a link to nothing" if is_link else None)
            except OSError as fault:
                marks.append(str(fault))
            else:
                if last_change(found) >= before:
                    return None
                marks.append(mark_of(found))
        for source in self._organisations:
            try:
                marks.append(f"generation {current_generation(source)}")
            except StoreError as fault:
                marks.append(str(fault))
        if bundle_folder(self._enterprise_file) is not None and offline_fault(self._max_offline) is not None:
            marks.append("offline")
        return tuple(marks)

    def _read_one_bundle(self) -> Policy:
        """Read all files, and again if the bundle was replaced meanwhile: its files are of one version."""
        while True:
            before = _bundle_version(self._enterprise_file)
            policy = self._read()
            if _bundle_version(self._enterprise_file) == before:
                return policy

    def _read(self) -> Policy:
        given, self._error = self._given, None
        try:
            organisations = tuple(map(self._rules_of, range(len(self._organisations))))
            if given.unrestricted:
                return _unrestricted(given, self._enterprise_file, organisations)
            loaded = _with_publishers(_files(self._policy_file, self._enterprise_file), self._enterprise_file)
            self._max_offline = _max_offline(loaded)
            _require_bundle(self._enterprise_file, self._max_offline)
            above = [file for rules in organisations for file in rules.files]
            loaded = (*_with_publishers(above, self._enterprise_file), *loaded)
            further = _with_publishers(given.files, self._enterprise_file)
            blocks = load_blocks(self._enterprise_file).joined(given.blocks)
            shared = [rules.blocks for rules in organisations if rules.blocks.blocks]
            if shared:
                blocks = Blocks(shared, self._enterprise_file).joined(blocks)
            files = (*loaded, *(file for file in further if file not in loaded))
            given_here = tuple(rules.approvals for rules in organisations)
            approvals = approvals_for(files, self._enterprise_file, prowess_home(), given_here)
        except (PolicyError, StoreError) as error:
            self._error = error
            # The refusals are recorded where the last policy that could be read demands it.
            return replace(Policy.closed(error), known_sinks=self._policy.audit_sinks)
        return replace(given, files=files, blocks=blocks, approvals=approvals)

    def _rules_of(self, place: int) -> OrganisationRules:
        """Return the decisions of one organisation. They are read again only if there is another generation."""
        source = self._organisations[place]
        known = self._decided.get(place)
        if known is None or known.generation != current_generation(source):
            known = self._decided[place] = source.rules()
        return known


def _bundle_version(enterprise_file: str) -> str | None:
    """Return the directory to which the link of the bundle leads; None if there is no link."""
    folder = bundle_folder(enterprise_file)
    return os.readlink(folder) if folder is not None and os.path.islink(folder) else None


def _with_organisation(
    known: tuple[OrganisationSource, ...], further: OrganisationSource | None
) -> tuple[OrganisationSource, ...]:
    """Return the sources with a further one, unless it is one of them."""
    return known if further is None or any(further == one for one in known) else (*known, further)


def _unrestricted(policy: Policy, enterprise_file: str, organisations: Sequence[OrganisationRules]) -> Policy:
    for rules in organisations:
        if rules.files or rules.blocks.blocks:
            reason = (
                f"{rules.blocks.path}: the organisation has decisions, so no session is unrestricted for tests here"
            )
            return Policy.closed(PolicyError((reason,)))
    folder = os.path.dirname(enterprise_file)
    try:
        found = sorted(name for name in os.listdir(folder) if name.endswith((".toml", BLOCKS_FILE, *YAML_ENDINGS)))
    except FileNotFoundError:
        return policy
    except OSError as fault:
        return Policy.closed(PolicyError((f"{folder}: {fault.strerror or fault}",)))
    if not found:
        return policy
    reason = f"{folder}/{found[0]}: this machine has a policy, so no session is unrestricted for tests here"
    return Policy.closed(PolicyError((reason,)))


def policy_of(
    given: Policy | PolicyInForce | None,
    who: Requester | None = None,
    organisation: OrganisationSource | None = None,
) -> PolicyInForce:
    """Return the policy of a session for calls of `who`; None means the files of this machine and this user.

    The decisions of `organisation` hold in any case.
    """
    if isinstance(given, PolicyInForce):
        return given.apart(who, organisation)
    return PolicyInForce(given, who=who, organisations=_with_organisation((), organisation))
