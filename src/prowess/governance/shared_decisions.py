"""The decisions of an organisation in a shared store, as the policy of a session takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import ValidationError, convert
from msgspec.structs import replace

from prowess._internal.files.toml_file import MAX_BYTES
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.errors import PolicyError, StoreError
from prowess.governance.store_approvals import statements_of
from prowess.policy.approvals.statements import Approvals
from prowess.policy.blocks.block_file import Block, BlockFile
from prowess.policy.organisation.organisation_rules import OrganisationRules
from prowess.policy.policy_file import policy_file_of
from prowess.store.shared.bundle_rows import SharedBundleRows
from prowess.store.shared.decisions import generation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.policy.policy_file import PolicyFile
    from prowess.store import SharedDatabase


class SharedDecisions:
    """An `OrganisationSource` for the tenant of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def __eq__(self, other: object) -> bool:
        """Whether both read the same database for the same tenant."""
        return isinstance(other, SharedDecisions) and other._database is self._database

    def __hash__(self) -> int:
        return hash(id(self._database))

    @property
    def place(self) -> str:
        """The URL of the store, without credentials."""
        return self._database.url

    def generation(self) -> int:
        """Return the generation of governance for the tenant. Raises StoreError."""
        return generation_of(self._database)

    def rules(self) -> OrganisationRules:
        """Return everything that holds for the tenant. Raises StoreError, and PolicyError if a row is damaged."""
        generation, _, rows = SharedBundleRows(self._database).read()
        version = sha256_of(canonical_json([list(map(list, rows.policies)), list(map(dict, rows.blocks))]))
        votes = sha256_of("\n".join(rows.votes).encode("utf-8", "surrogatepass"))
        blocks = tuple(block_of(row, self.place) for row in rows.blocks)
        return OrganisationRules(
            generation=generation,
            files=tuple(stored_policy_file(tenant, name, text) for tenant, name, text in rows.policies),
            blocks=BlockFile(path=self.place, digest=version, blocks=blocks, is_shared=True),
            approvals=Approvals(place=self.place, statements=statements_of(rows.votes, self.place), version=votes),
            version=version,
        )


def stored_policy_file(tenant: str, name: str, toml: str) -> PolicyFile:
    """Return a policy of the store. Messages and records name it as `store:TENANT/NAME.toml`.

    Raises:
        PolicyError: the text is invalid; it has every fault with its line.
    """
    place, data = f"store:{tenant}/{name}.toml", toml.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        raise PolicyError((f"{place}: it is larger than {MAX_BYTES} bytes",))
    return replace(policy_file_of(place, data), is_shared=True)


def block_of(row: Mapping[str, str], place: str) -> Block:
    """Return a block of the store at `place`. Raises StoreError if the row is damaged."""
    try:
        return convert(row, Block)
    except ValidationError as fault:
        name = row.get("id", "")[:80]
        raise StoreError(place, f"the block {name!r} is damaged, or a newer Prowess wrote it: {fault}") from None
