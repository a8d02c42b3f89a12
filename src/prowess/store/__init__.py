"""Storage of session rows and events, and of index rows; their content is opaque here. The shared store of tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.store.memory import MemorySessionStore
    from prowess.store.opening import open_store
    from prowess.store.protocols import (
        ApprovalRequestStore,
        BlockRow,
        BlockStore,
        CallRequestRow,
        CallRequestStore,
        DeployerStore,
        EventStore,
        KeptEvent,
        LoginRow,
        LoginStore,
        MachineRow,
        MachineStore,
        PeekingStore,
        PolicyRow,
        PolicyStore,
        RateLimitStore,
        ReleaseFileStore,
        RequestRow,
        SessionRow,
        SessionStore,
        Token,
        TokenStore,
        VoteStore,
    )
    from prowess.store.shared.database import SharedDatabase
    from prowess.store.shared.decisions import SharedBlockStore, SharedPolicyStore
    from prowess.store.shared.deployers import SharedDeployerStore
    from prowess.store.shared.requests import SharedApprovalRequestStore, SharedCallRequestStore
    from prowess.store.shared.sessions import SharedSessionStore
    from prowess.store.shared.votes import SharedVoteStore
    from prowess.store.sqlite import SqliteSessionStore

__all__ = [
    "ApprovalRequestStore",
    "BlockRow",
    "BlockStore",
    "CallRequestRow",
    "CallRequestStore",
    "DeployerStore",
    "EventStore",
    "KeptEvent",
    "LoginRow",
    "LoginStore",
    "MachineRow",
    "MachineStore",
    "MemorySessionStore",
    "PeekingStore",
    "PolicyRow",
    "PolicyStore",
    "RateLimitStore",
    "ReleaseFileStore",
    "RequestRow",
    "SessionRow",
    "SessionStore",
    "SharedApprovalRequestStore",
    "SharedBlockStore",
    "SharedCallRequestStore",
    "SharedDatabase",
    "SharedDeployerStore",
    "SharedPolicyStore",
    "SharedSessionStore",
    "SharedVoteStore",
    "SqliteSessionStore",
    "Token",
    "TokenStore",
    "VoteStore",
    "open_store",
]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(
        __name__,
        {
            "memory": ("MemorySessionStore",),
            "opening": ("open_store",),
            "protocols": (
                *("EventStore", "KeptEvent", "PeekingStore", "SessionRow", "SessionStore"),
                *("LoginRow", "LoginStore", "RateLimitStore", "Token", "TokenStore", "VoteStore"),
                *("Token", "TokenStore", "VoteStore", "PolicyRow", "PolicyStore", "BlockRow", "BlockStore"),
                *("RequestRow", "ApprovalRequestStore", "CallRequestRow", "CallRequestStore"),
                *("DeployerStore", "MachineRow", "MachineStore", "ReleaseFileStore"),
            ),
            "shared.database": ("SharedDatabase",),
            "shared.deployers": ("SharedDeployerStore",),
            "shared.decisions": ("SharedBlockStore", "SharedPolicyStore"),
            "shared.requests": ("SharedApprovalRequestStore", "SharedCallRequestStore"),
            "shared.sessions": ("SharedSessionStore",),
            "shared.votes": ("SharedVoteStore",),
            "sqlite": ("SqliteSessionStore",),
        },
    )
