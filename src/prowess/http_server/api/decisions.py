"""Routes about decisions of an organisation: blocks and policies."""

from __future__ import annotations

from prowess.governance.replay.replay import Replayed
from prowess.governance.service.blocks import BlockService, NewBlock, SharedBlock
from prowess.governance.service.listing import ListPage, ListQuery
from prowess.governance.service.policies import (
    NewPolicy,
    PolicyService,
    PolicySummary,
    PushedPolicy,
    PushQuery,
    StoredPolicy,
)
from prowess.governance.service.replay import ReplayRequest, ReplayService
from prowess.http_server.api.route_table import ApiRoute

DECISION_ROUTES = (
    ApiRoute(
        method="GET",
        path="/blocks",
        name="list_blocks",
        summary="Blocks that hold, the oldest first",
        needs="see",
        handle=lambda asked: BlockService(asked.call).list(asked.query),
        query=ListQuery,
        answer=ListPage[SharedBlock],
    ),
    ApiRoute(
        method="POST",
        path="/blocks",
        name="add_block",
        summary="Block every skill with one fact",
        needs="block",
        handle=lambda asked: BlockService(asked.call).add(asked.body),
        body=NewBlock,
        answer=SharedBlock,
        status=201,
    ),
    ApiRoute(
        method="GET",
        path="/blocks/{id}",
        name="block",
        summary="A block",
        needs="see",
        handle=lambda asked: BlockService(asked.call).get(asked.path["id"]),
        answer=SharedBlock,
    ),
    ApiRoute(
        method="DELETE",
        path="/blocks/{id}",
        name="remove_block",
        summary="Lift a block",
        needs="block",
        handle=lambda asked: BlockService(asked.call).remove(asked.path["id"]),
        answer=SharedBlock,
    ),
    ApiRoute(
        method="GET",
        path="/policies",
        name="list_policies",
        summary="Policies that hold, those of the organisation first",
        needs="see",
        handle=lambda asked: PolicyService(asked.call).list(asked.query),
        query=ListQuery,
        answer=ListPage[PolicySummary],
    ),
    ApiRoute(
        method="POST",
        path="/policies/replay",
        name="replay_policy",
        summary="Decide recorded calls again by a new policy",
        needs="audit",
        handle=lambda asked: ReplayService(asked.call).replay(asked.body),
        body=ReplayRequest,
        answer=Replayed,
    ),
    ApiRoute(
        method="GET",
        path="/policies/{name}",
        name="policy",
        summary="A policy with its text",
        needs="see",
        handle=lambda asked: PolicyService(asked.call).get(asked.path["name"]),
        answer=StoredPolicy,
    ),
    ApiRoute(
        method="PUT",
        path="/policies/{name}",
        name="put_policy",
        summary="Add a policy, or replace it, unless it newly denies more recorded calls than accepted",
        needs="administer",
        handle=lambda asked: PolicyService(asked.call).push(asked.path["name"], asked.body, asked.query),
        query=PushQuery,
        body=NewPolicy,
        answer=PushedPolicy,
    ),
    ApiRoute(
        method="DELETE",
        path="/policies/{name}",
        name="remove_policy",
        summary="Remove a policy",
        needs="administer",
        handle=lambda asked: PolicyService(asked.call).remove(asked.path["name"]),
        answer=StoredPolicy,
    ),
)
