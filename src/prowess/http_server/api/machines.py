"""Routes for machines, and about them: the bundle, records, deployed skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from prowess.errors import UnavailableError
from prowess.governance.machine.reports import Collected, SentRecords
from prowess.governance.service.bundle import OrganisationSigner, bundle_of, release_file
from prowess.governance.service.listing import ListPage, NoSuchItemError
from prowess.governance.service.machines import Machine, MachineQuery, MachineService
from prowess.http_server.api.route_table import ApiRoute

if TYPE_CHECKING:
    from prowess.http_server.api.route_table import ApiRequest

_BINARY = "application/octet-stream"
_MOST_SENT = 16 * 1024 * 1024


class BundleQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`file` is the path of a file of the deployment; without it, the bundle is wanted."""

    file: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None


def _bundle(asked: ApiRequest) -> Response:
    path = asked.query.file
    if path is not None:
        data = None if "\x00" in path else release_file(asked.call, path)
        if data is None:
            raise NoSuchItemError("deployed file", path)
        return Response(data, media_type=_BINARY)
    signer = asked.server.signer
    if signer is None:
        advice = "copy the organisation's key to the machine of the server"
        raise UnavailableError("the bundle", None, "this server cannot sign it", advice)
    known = asked.request.headers.get("if-none-match")
    bundle = bundle_of(asked.call, OrganisationSigner(origin=signer.name, key=signer.key), known)
    if bundle is None:
        return Response(status_code=304)
    return Response(bundle.data, media_type=_BINARY, headers={"prowess-key": bundle.public_key, "etag": bundle.etag})


MACHINE_ROUTES = (
    ApiRoute(
        method="GET",
        path="/bundle",
        name="bundle",
        summary="The signed bundle of the tenant, or a file of its deployment",
        needs="fetch",
        handle=_bundle,
        query=BundleQuery,
        media=_BINARY,
    ),
    ApiRoute(
        method="POST",
        path="/audit/records",
        name="send_records",
        summary="Records and the report of an enrolled machine",
        needs="machine",
        handle=lambda asked: MachineService(asked.call).collect(asked.body),
        body=SentRecords,
        answer=Collected,
        most=_MOST_SENT,
    ),
    ApiRoute(
        method="GET",
        path="/machines",
        name="list_machines",
        summary="Enrolled machines, with the version that they follow and what is wrong with their logs",
        needs="audit",
        handle=lambda asked: MachineService(asked.call).list(asked.query),
        query=MachineQuery,
        answer=ListPage[Machine],
    ),
    ApiRoute(
        method="GET",
        path="/machines/{id}",
        name="machine",
        summary="An enrolled machine",
        needs="audit",
        handle=lambda asked: MachineService(asked.call).get(asked.path["id"]),
        answer=Machine,
    ),
    ApiRoute(
        method="DELETE",
        path="/machines/{id}",
        name="remove_machine",
        summary="Forget a machine",
        needs="administer",
        handle=lambda asked: MachineService(asked.call).remove(asked.path["id"]),
    ),
)
