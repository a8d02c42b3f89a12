"""OMS statements: the list of a skill's files and their hashes, as it is signed.

The form is that of OpenSSF Model Signing 1.0 (an in-toto statement): `resources` lists files, `serialization` how they
were hashed, the subject's digest covers all of them. Prowess adds the key `skill` to the predicate, which OMS tells
verifiers to ignore: name, version and tree digest. The tree digest covers executable bits too, and the git files that
`model_signing` leaves out.

What a statement leaves out is not believed: `ignore_paths` may hide `.gitignore` and `.gitattributes` at the root, the
signature file, and `.git`, which no digest covers. Any other file that is not listed differs from what was signed.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess._internal.files.tree_digest import SIGNATURE_FILE
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import SignatureError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.files.tree_digest import TreeManifest

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://model_signing/signature/v1.0"

_GIT_PATHS = (".git", ".gitattributes", ".github", ".gitignore")  # `model_signing` lists none of them
_MAY_BE_UNLISTED = frozenset({".gitattributes", ".gitignore"})
_HASH = re.compile("[0-9a-f]{64}")
_MARKS = 200  # files of a skill in which the one with another executable bit is looked for
_WHAT = "the statement"


class SignedSkill(Struct, frozen=True, kw_only=True):
    """What the signer calls the skill. `version` is None if it has none; `tree` is its tree digest."""

    name: str
    version: str | None
    tree: str


class Statement(Struct, frozen=True, kw_only=True):
    """A signed list of files. `files` maps each path to its SHA-256 in hex; `skill` is None if OMS alone wrote it."""

    name: str
    files: Mapping[str, str]
    ignored: frozenset[str]
    skill: SignedSkill | None = None


def read_statement(payload: bytes) -> Statement:
    """Read the payload of an OMS signature.

    Raises:
        SignatureError: it is of another type, disagrees with itself, or names a file outside the skill.
    """
    value = read_in_toto(payload)
    predicate = value.get("predicate")
    if value.get("predicateType") != PREDICATE_TYPE or not isinstance(predicate, dict):
        raise SignatureError(_WHAT, f"its predicate is not of type {PREDICATE_TYPE}")
    subjects = subjects_of(value)
    if len(subjects) != 1:
        raise SignatureError(_WHAT, "it must have one subject")
    ignored = _ignored(predicate.get("serialization"))
    files = _files(predicate.get("resources"))
    whole = hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in files.values())).hexdigest()
    if subjects[0][1] != whole:
        raise SignatureError(_WHAT, "the digest of its subject is not that of its resources")
    return Statement(name=subjects[0][0], files=files, ignored=ignored, skill=_skill(predicate.get("skill")))


def read_in_toto(payload: bytes) -> Mapping[str, object]:
    """Return an in-toto statement of version 1 as JSON. Raises SignatureError."""
    try:
        value = strict_json(payload, "it")
    except StrictJsonError as fault:
        raise SignatureError(_WHAT, str(fault)) from None
    if not isinstance(value, dict) or value.get("_type") != STATEMENT_TYPE:
        raise SignatureError(_WHAT, f"its type is not {STATEMENT_TYPE}")
    return value


def subjects_of(statement: Mapping[str, object]) -> tuple[tuple[str, str | None], ...]:
    """Return name and SHA-256 of each subject of an in-toto statement. Raises SignatureError if they are malformed."""
    found = statement.get("subject")
    if not isinstance(found, list) or not found:
        raise SignatureError(_WHAT, "it has no subject")
    subjects = []
    for one in found:
        name, digest = (one.get("name", ""), one.get("digest")) if isinstance(one, dict) else ("", None)
        if not isinstance(name, str) or not isinstance(digest, dict):
            raise SignatureError(_WHAT, "a subject is malformed")
        sha256 = digest.get("sha256")
        subjects.append((name, sha256 if isinstance(sha256, str) else None))
    return tuple(subjects)


def render_statement(manifest: TreeManifest, skill: SignedSkill) -> bytes:
    """Return the statement about a skill's files, in one spelling.

    Raises:
        SignatureError: the tree has an obstacle to a digest, or no file.
    """
    what = f"skill {skill.name!r}"
    if manifest.obstacles:
        raise SignatureError(what, f"{manifest.obstacles[0]!r} is a link or no regular file, so it has no digest")
    listed = [file for file in manifest.files if file.path.split("/")[0] not in _GIT_PATHS]
    if not listed:
        raise SignatureError(what, "it has no file to sign")
    whole = hashlib.sha256(b"".join(bytes.fromhex(file.sha256) for file in listed)).hexdigest()
    serialization = {
        "method": "files",
        "hash_type": "sha256",
        "allow_symlinks": False,
        "ignore_paths": [SIGNATURE_FILE, *_GIT_PATHS],
    }
    predicate = {
        "serialization": serialization,
        "resources": [{"name": file.path, "algorithm": "sha256", "digest": file.sha256} for file in listed],
        "skill": {key: value for key, value in to_builtins(skill).items() if value is not None},
    }
    subject = {"name": skill.name, "digest": {"sha256": whole}}
    statement = {"_type": STATEMENT_TYPE, "subject": [subject], "predicateType": PREDICATE_TYPE, "predicate": predicate}
    return encode(statement, order="sorted")


def differences(statement: Statement, manifest: TreeManifest) -> tuple[str, ...] | None:
    """Return the paths that were changed, removed or added since they were signed, sorted; None if all is the same.

    The tuple is empty if an unlisted file or an executable bit differs and the file cannot be named.
    """
    present = {file.path: file.sha256 for file in manifest.files}
    differing = {path for path, digest in statement.files.items() if present.get(path) != digest}
    unlisted = present.keys() - statement.files.keys()
    if statement.skill is None:
        differing |= unlisted - (_MAY_BE_UNLISTED & statement.ignored)
    else:  # the tree digest covers them
        differing |= {path for path in unlisted if path.split("/")[0] not in _GIT_PATHS}
    differing |= set(manifest.obstacles)
    if not differing and statement.skill is not None and manifest.content_digest != statement.skill.tree:
        return _other_mark(statement.skill.tree, manifest) or tuple(sorted(unlisted))
    return tuple(sorted(differing)) or None


def _other_mark(tree: str, manifest: TreeManifest) -> tuple[str, ...]:
    """Return the one file whose executable bit explains the digest, if there is one and the skill is small."""
    files = manifest.files if len(manifest.files) <= _MARKS else ()
    for at, file in enumerate(files):
        turned = replace(file, executable=not file.executable)
        if replace(manifest, files=(*files[:at], turned, *files[at + 1 :])).content_digest == tree:
            return (file.path,)
    return ()


def _ignored(serialization: object) -> frozenset[str]:
    if not isinstance(serialization, dict) or serialization.get("method") != "files":
        raise SignatureError(_WHAT, "only a list of whole files can be verified")
    if serialization.get("hash_type") != "sha256":
        raise SignatureError(_WHAT, "only SHA-256 can be verified")
    ignored = serialization.get("ignore_paths", [])
    if not isinstance(ignored, list) or not all(isinstance(path, str) for path in ignored):
        raise SignatureError(_WHAT, "'ignore_paths' is not a list of paths")
    return frozenset(ignored)


def _files(resources: object) -> dict[str, str]:
    if not isinstance(resources, list) or not resources:
        raise SignatureError(_WHAT, "it lists no file")
    files: dict[str, str] = {}
    for one in resources:
        path, digest = (one.get("name"), one.get("digest")) if isinstance(one, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(digest, str) or one.get("algorithm") != "sha256":
            raise SignatureError(_WHAT, "a resource is malformed")
        if not _HASH.fullmatch(digest):
            raise SignatureError(_WHAT, f"the digest of {path!r} is malformed")
        try:
            normal = "/".join(check_relative(path))
        except UnsafePathError as fault:
            raise SignatureError(_WHAT, str(fault)) from None
        if normal != path or path in files:
            raise SignatureError(_WHAT, f"the path {path!r} is listed twice or spelled in an unusual way")
        files[path] = digest
    return files


def _skill(value: object) -> SignedSkill | None:
    if value is None:
        return None
    name, version, tree = (
        (value.get(key) for key in ("name", "version", "tree")) if isinstance(value, dict) else (0,) * 3
    )
    if not isinstance(name, str) or not isinstance(tree, str) or not isinstance(version, str | None):
        raise SignatureError(_WHAT, "its key 'skill' is malformed")
    return SignedSkill(name=name, version=version, tree=tree)
