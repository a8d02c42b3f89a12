"""The generation of an organisation's decisions that a call has learned already, so that its policy needs no query.

A session reads its row at the beginning of a call, and the row has the generation. Inside `knowing`, the policy of the
call uses it. A task that the call started and that runs longer does not.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.policy.organisation.organisation_rules import OrganisationSource


class _Known(Struct):
    source: OrganisationSource
    generation: int | StoreError
    open: bool = True


_known: ContextVar[_Known | None] = ContextVar("prowess_generation_of_this_call", default=None)


@contextmanager
def knowing(source: OrganisationSource, generation: int | StoreError) -> Iterator[None]:
    """Inside the block, `generation` is that of the source, or the fault why it cannot be read."""
    known = _Known(source, generation)
    token = _known.set(known)
    try:
        yield
    finally:
        known.open = False
        _known.reset(token)


def current_generation(source: OrganisationSource) -> int:
    """Return the generation: the known one, else as the source tells it. Raises StoreError."""
    known = _known.get()
    if known is None or not known.open or known.source != source:
        return source.generation()
    if isinstance(known.generation, StoreError):
        raise known.generation
    return known.generation
