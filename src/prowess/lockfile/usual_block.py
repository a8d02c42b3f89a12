"""Reads the block of a skill if it is as most are: in ASCII, without escapes, with allowed values in their order.

`prowess.lockfile.text` decides about every other block, and about the faults of all. It would read these blocks with
the same result, in five times the time, and a listing reads the whole lock.
"""

from __future__ import annotations

import hashlib
import re

from prowess.lockfile.lock import LockedSkill

_MOST = 4096  # characters of a block, so that no value is longer than it may be
_INSIDE = r"[ !#-\[\]-~]"  # without quotation mark and backslash, which are escaped
_TEXT = rf'(?! ){_INSIDE}+(?<! )(?=")'  # begins and ends without a blank
_NAME = r'(?! |\.\.?")[ !#-.0-\[\]-~]{1,255}(?<! )(?=")'
_PART = r'(?!\.\.?[/"])[ !#-.0-\[\]-~]+'
_PATH = rf'(?! ){_PART}(?:/{_PART})*(?<! )(?=")'
_DIGEST = "sha256:[0-9a-f]{64}"
_ALWAYS = {  # keys of each block, and the forms of their values
    "name": f'"({_NAME})"',
    "source": f'"({_TEXT})"',
    "tree": f'"({_DIGEST})"',
    "order": "(0|[1-9][0-9]{0,14})",
}
_SOMETIMES = {
    "package": f'"({_TEXT})"',
    "version": f'"({_TEXT})"',
    "path": f'"({_PATH})"',
    "commit": '"([0-9a-f]{40})"',
    "artifact": f'"({_DIGEST})"',
    "requires": rf'\[("{_TEXT}"(?:, "{_TEXT}")*)\]',
    "requested": f'"({_TEXT})"',
    "signer": f'"({_TEXT})"',
    "unsigned": "(true)",
}
_KEYS = LockedSkill.__struct_fields__  # in the order of the lines
_LINES = [rf"{key} = {_ALWAYS[key]}\n" if key in _ALWAYS else rf"(?:{key} = {_SOMETIMES[key]}\n)?" for key in _KEYS]
_block = re.compile(rf'(\[\[skill\]\]\n{"".join(_LINES)})seal = "({_DIGEST})"').fullmatch


def usual_block(text: str) -> LockedSkill | None:
    """Return the skill of a block whose seal fits; None if the block is not usual, or has a fault."""
    found = _block(text) if len(text) < _MOST else None
    if found is None:
        return None
    sealed, *values, seal = found.groups()
    if f"sha256:{hashlib.sha256(sealed.encode()).hexdigest()}" != seal:
        return None
    name, package, version, source, path, commit, artifact, tree, requires, order, requested, signer, unsigned = values
    demands = () if requires is None else tuple(requires[1:-1].split('", "'))
    if len(demands) > 1 and list(demands) != sorted(set(demands)):
        return None
    return LockedSkill(
        name=name,
        package=package or "",
        version=version,
        source=source,
        path=path,
        commit=commit,
        artifact=artifact,
        tree=tree,
        requires=demands,
        order=int(order),
        requested=requested,
        signer=signer,
        unsigned=unsigned is not None,
    )
