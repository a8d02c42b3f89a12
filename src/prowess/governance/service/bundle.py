"""The bundle of a tenant from the store: what decides on its machines, signed by the organisation.

Its version is the generation of governance plus the number of the present day. So it grows with each act that holds for
the tenant, and once a day, when a bundle with a later expiry is signed. Every process of a server signs the same bytes
for one version, because generation and time are those of the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import is_named_policy
from prowess.errors import StoreError
from prowess.governance.machine.bundle import OF_TENANT, RELEASE_ROOT, TENANT_RELEASE_ROOT, Bundle, sign_bundle
from prowess.governance.shared_decisions import block_of
from prowess.governance.store_approvals import statements_of
from prowess.policy.approvals.statements import APPROVALS_FILE, render_statements
from prowess.policy.blocks.block_file import render_blocks
from prowess.signing.signed_note import note_key
from prowess.store.shared.bundle_rows import SharedBundleRows
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.governance.service.service_call import ServiceCall
    from prowess.signing.keys import PrivateKey
    from prowess.store.shared.bundle_rows import BundleRows
    from prowess.store.shared.database import SharedDatabase

FIRST_ROOT = "metadata/1.root.json"
_DAY = 86400
_VALID_DAYS = 8


class OrganisationSigner(Struct, frozen=True, kw_only=True):
    """The private key of an organisation, and its name in signatures."""

    origin: str
    key: PrivateKey

    @property
    def public_key(self) -> str:
        """The public key as `NAME+hash+base64`."""
        return str(note_key(self.origin, self.key.public))


class SignedBundle(Struct, frozen=True, kw_only=True):
    """A bundle as it is sent. `public_key` is for the header `Prowess-Key`."""

    version: int
    data: bytes
    public_key: str

    @property
    def etag(self) -> str:
        """The value of the header `ETag`."""
        return f'"{self.version}"'


def bundle_of(call: ServiceCall, signer: OrganisationSigner, known: str | None = None) -> SignedBundle | None:
    """Return the present bundle of the tenant of a call; None if it has the version `known`, a header `If-None-Match`.

    A machine may fetch it, and who administers.

    Raises:
        PolicyDeniedError: the actor may not, or belongs to no tenant.
        StoreError: the store cannot be used, or a row of it is damaged.
    """
    _require_may_read(call)
    rows = SharedBundleRows(call.database)
    generation, at = rows.generation()
    if known is not None and _version(generation, at) == _stated(known):
        return None
    generation, at, found = rows.read()
    bundle = Bundle(
        origin=signer.origin,
        tenant=call.tenant,
        version=_version(generation, at),
        expires=(at // _DAY + _VALID_DAYS) * _DAY,
        files=_files(call.database, found),
    )
    return SignedBundle(version=bundle.version, data=sign_bundle(bundle, signer.key), public_key=signer.public_key)


def present_version(database: SharedDatabase) -> int:
    """Return the version of the present bundle of the tenant of a database. Raises StoreError."""
    return _version(*SharedBundleRows(database).generation())


def release_file(call: ServiceCall, path: str) -> bytes | None:
    """Return a file of the organisation's deployment, or, below `tenant/`, of the tenant's; None if there is none.

    Raises:
        PolicyDeniedError: the actor may not read it.
        StoreError: the store cannot be used.
    """
    _require_may_read(call)
    owner = call.tenant if path.startswith(OF_TENANT) else EVERY
    return SharedReleaseFiles(call.database, owner).read(path.removeprefix(OF_TENANT))


def _require_may_read(call: ServiceCall) -> None:
    if call.actor.may("administer") and call.tenant != EVERY:
        return
    call.require_machine()


def _version(generation: int, at: int) -> int:
    return generation + at // _DAY


def _stated(header: str) -> int | None:
    text = header.strip().removeprefix("W/").strip('"')
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None  # noqa: PLR2004 -- a version is shorter


def _files(database: SharedDatabase, rows: BundleRows) -> dict[str, str]:
    url, files = database.url, {}
    for tenant, name, text in rows.policies:
        file = f"{'organisation' if tenant == EVERY else 'tenant'}.{name}.toml"
        if not is_named_policy(file):
            raise StoreError(url, f"the policy {name[:80]!r} has a name that cannot be a file; remove it")
        files[file] = text
    if rows.blocks:
        files["blocks.json"] = render_blocks(tuple(block_of(row, url) for row in rows.blocks)).decode()
    if rows.votes:
        files[APPROVALS_FILE] = render_statements(statements_of(rows.votes, url)).decode()
    for owner, file in ((EVERY, RELEASE_ROOT), (database.tenant, TENANT_RELEASE_ROOT)):
        if (root := SharedReleaseFiles(database, owner).read(FIRST_ROOT)) is not None:
            files[file] = root.decode()
    return files
