"""The approvals files that count for some policy files: those beside the files of the same layer and of higher ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.places import bundle_folder
from prowess.policy.approvals.statements import approvals_path, read_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.policy.approvals.statements import Approvals
    from prowess.policy.policy_file import PolicyFile


def approvals_for(
    files: Sequence[PolicyFile], machine_file: str, user_home: str, shared: Sequence[Approvals] = ()
) -> tuple[Approvals, ...]:
    """Return the statements that count for the policy files; none are read if no file needs them.

    The layers are `shared`, the statements of the store of an organisation, then the bundle of the organisation on an
    enrolled machine, the directory of `machine_file`, the user's home, and the directories of all other files. For a
    policy of the store, only statements of the store count.

    Raises:
        PolicyError: an approvals file is damaged, or someone else could change it.
    """
    if not any(file.approval_rules or file.has_approved for file in files):
        return ()
    files = [file for file in files if not file.is_shared]
    places = approvals_places(machine_file, user_home, (file.path for file in files))
    layer_of = {path: layer for layer, path in enumerate(places)}
    lowest = len(layer_of)
    found = list(shared)
    of_machine = 1 if bundle_folder(machine_file) is None else 2
    for layer, path in enumerate(places):
        below = frozenset(one.path for one in files if layer_of.get(approvals_path(one.path), lowest) >= layer)
        found.append(replace(read_statements(path, is_machine=layer < of_machine), policy_files=below))
    return tuple(found)


def approvals_places(machine_file: str, user_home: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return the approvals files from the highest layer to the lowest; they may not exist."""
    own = os.path.join(user_home, os.path.basename(machine_file))
    bundle = bundle_folder(machine_file)
    first = () if bundle is None else (os.path.join(bundle, os.path.basename(machine_file)),)
    return tuple(dict.fromkeys(map(approvals_path, (*first, machine_file, own, *others))))
