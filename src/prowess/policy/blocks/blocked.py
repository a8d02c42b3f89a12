"""Looks up whether a call is about a blocked skill.

A block names skills by one fact: a name, a digest, a file, a source or a publisher. It denies every call about such a
skill, and no rule, approval or trust changes that. Only calls that take the skill away are exempt. While a blocked
skill is active, calls of other tools are about it too, so they are denied until it is unloaded.

Blocks are keys of dictionaries, so the time of a lookup does not depend on their number. A fact that is not known
counts as blocked if blocks name this kind of fact. The publisher is an exception, because most skills are not signed:
it counts as blocked only if the source is not known either.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess import lockfile
from prowess._internal.globs import as_written, fits_text, is_glob
from prowess._internal.places import BLOCKS_FILE, block_places, bundle_folder
from prowess._internal.text.qualified_names import one_form, qualified_forms, version_form
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError
from prowess.format.name import normalise
from prowess.policy.blocks.block_file import BLOCK_KINDS, read_block_file
from prowess.policy.decision import Deny, RuleOrigin
from prowess.policy.facts.publisher_names import publishers_trusted_by, signers_meant
from prowess.policy.facts.skill_identity import fit_of_skills, indexed_forms
from prowess.policy.rule import spellings_of
from prowess.policy.tool_names import PACKAGE_TOOLS, SKILL_ARGUMENTS, canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from prowess.policy.blocks.block_file import Block, BlockFile, BlockKind
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.rule import PolicyCall

SIGNERS = ("key ", "x509 ", "sigstore ")  # beginnings of the text of a signer, as locks have it
_BRINGS_NO_SKILL = (
    frozenset(PACKAGE_TOOLS) - {"packages.install", "packages.update", "packages.rollback"} - {"packages.deploy"}
)
_Found = tuple["Block", RuleOrigin]


class Blocks:
    """The blocks of some files. Safe to use from several threads.

    `enterprise_file` is the machine's policy file: blocks beside it mean the publishers whom the machine names.
    """

    __slots__ = ("_bare", "_by", "_enterprise_file", "_links", "_signers", "files")

    def __init__(self, files: Iterable[BlockFile] = (), enterprise_file: str = "") -> None:
        """Index the blocks.

        Raises:
            PolicyError: a block names a publisher, and a publishers file cannot be read.
        """
        self.files = tuple(files)
        self._enterprise_file = enterprise_file
        self._by: dict[BlockKind, dict[str, _Found]] = {kind: {} for kind in BLOCK_KINDS}
        self._bare: dict[str, _Found] = {}  # of blocks about one copy: the plain name
        self._links: list[tuple[str, _Found]] = []  # paths that lead elsewhere if a link on the way changes
        self._signers: list[tuple[str, _Found]] = []
        for file in self.files:
            for line, block in enumerate(file.blocks, 2):
                self._add(block, (block, RuleOrigin(path=file.path, line=line)), file, enterprise_file)

    def _add(self, block: Block, found: _Found, file: BlockFile, enterprise_file: str) -> None:
        index = self._by[block.kind]
        match block.kind:
            case "name":
                key = name_key(block.value)
                index.setdefault(key, found)
                bare = [form[0] for form in qualified_forms(key)]
                if (version := version_form(key)) is not None:
                    bare.append(version[0])
                for name in bare:
                    self._bare.setdefault(name, found)
            case "source":
                pattern = as_written(block.value) if is_glob(block.value) else block.value
                forms = indexed_forms("source", pattern)
                if forms is None or is_glob(pattern):
                    self._links.append((pattern, found))
                for form in (block.value, *(forms or ()), *_spellings(block.value)):
                    index.setdefault(form, found)
            case "publisher":
                index.setdefault(block.value, found)
                if not block.value.startswith(SIGNERS):
                    policy = os.path.join(os.path.dirname(file.path), os.path.basename(enterprise_file))
                    policy = enterprise_file if file.is_shared else policy
                    trusted = publishers_trusted_by(policy, enterprise_file) if enterprise_file else ()
                    self._signers += [(one, found) for one in signers_meant((as_written(block.value),), trusted)]
            case _:
                index.setdefault(block.value, found)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is blocked."""
        return not any(self._by.values())

    @property
    def needs_files(self) -> bool:
        """Whether a block names a single file of a skill."""
        return bool(self._by["file"])

    @property
    def needs_digests(self) -> bool:
        """Whether a block names a digest or a file, so that the files of skills must be read."""
        return bool(self._by["digest"] or self._by["file"])

    def __iter__(self) -> Iterator[tuple[Block, RuleOrigin]]:
        """Yield every block with its place."""
        for file in self.files:
            for line, block in enumerate(file.blocks, 2):
                yield block, RuleOrigin(path=file.path, line=line)

    def joined(self, other: Blocks) -> Blocks:
        """Return the blocks of both. Files with the same content count once."""
        known = {file.version for file in self.files}
        more = [file for file in other.files if file.version not in known]
        return Blocks((*self.files, *more), self._enterprise_file or other._enterprise_file) if more else self

    def without(self, ids: Collection[str]) -> Blocks:
        """Return the blocks that are left if those with these ids are lifted."""
        left = (replace(file, blocks=tuple(one for one in file.blocks if one.id not in ids)) for file in self.files)
        return Blocks(left, self._enterprise_file)

    def refusal(self, call: PolicyCall) -> Deny | None:
        """Return the denial of a call that is about a blocked skill, or None."""
        tool = canonical_tool_name(call.tool)
        if tool in _BRINGS_NO_SKILL:
            return None
        skills = call.skills
        if skills is None:
            skills = call.about if tool in SKILL_ARGUMENTS else ()
        return next((denied for skill in skills if (denied := self.denial(skill)) is not None), None)

    def denial(self, skill: SkillIdentity) -> Deny | None:
        """Return the denial of every use of this skill, or None if it is not blocked."""
        named = "a skill" if skill.name is None else f"the skill {printable_line(skill.name)!r}"
        for kind in BLOCK_KINDS:
            if not self._by[kind] or kind in skill.pending:
                continue
            values = _values(skill, kind)
            if values is not None:
                if (found := self._of(kind, values, skill)) is not None:
                    block, origin = found
                    reason = f"{named} is blocked by its {printable_line(block.said)}"
                    return Deny(rule=f"block {kind} {block.value}", reason=reason, origin=origin, id=block.id)
            elif not skill.absent and (kind != "publisher" or skill.sources is None):
                block, origin = next(iter(self._by[kind].values()))
                reason = f"skills are blocked by {kind}, and the {kind} of {named} is not known"
                return Deny(rule=f"block {kind}", reason=reason, origin=origin, id="block-unknown")
        return None

    def _of(self, kind: BlockKind, values: Collection[str], skill: SkillIdentity) -> _Found | None:
        index = self._by[kind]
        if len(values) > len(index):
            found = next((one for value, one in index.items() if value in values), None)
        else:
            found = next((index[value] for value in values if value in index), None)
        if found is not None:
            return found
        if kind == "name" and skill.sources is None and self._bare:  # which copy is meant is not known
            return next((self._bare[value] for value in values if value in self._bare), None)
        if kind == "source":
            for pattern, one in self._links:
                if fit_of_skills({"source": (pattern,)}, (skill,)).certain:
                    return one
        if kind == "publisher":
            signer = f" {next(iter(values))} "
            for value, one in index.items():
                if f" {value} " in signer:  # one of several keys, or a root certificate without its subject
                    return one
            return next((one for pattern, one in self._signers if fits_text(signer.strip(), pattern)), None)
        return None


NO_BLOCKS = Blocks()


def load_blocks(enterprise_file: str) -> Blocks:
    """Return the blocks of the organisation, this machine and this user.

    Raises:
        PolicyError: a file is damaged, cannot be read, or another user could change it.
    """
    machine, user = block_places(enterprise_file)
    bundle = bundle_folder(enterprise_file)
    files = [read_block_file(machine, is_machine=True), read_block_file(user, is_machine=False)]
    if bundle is not None:
        files.insert(0, read_block_file(os.path.join(bundle, BLOCKS_FILE), is_machine=True))
    found = [file for file in files if file is not None]
    return Blocks(found, enterprise_file) if found else NO_BLOCKS


def name_key(text: str) -> str:
    """Return the form by which names are compared: NFKC, without case, `name@label` for `label/name`."""
    return one_form(normalise(text)).casefold()


def _values(skill: SkillIdentity, kind: BlockKind) -> Collection[str] | None:
    if kind == "name":
        if skill.name is None:
            return None
        return {text.casefold() for text in spellings_of((normalise(skill.name),), skill.copies)}
    return skill.values(kind)


def _spellings(source: str) -> tuple[str, ...]:
    """Return a remote source as locks name it, in lower case too: names of a code host ignore case."""
    try:
        reference = lockfile.parse_reference(source, has_version=False)
    except InvalidArgumentsError:
        return ()
    return () if reference.is_local else (reference.source, reference.source.lower())
