"""Options of `prowess admin serve` about logins: the address that browsers use, and the issuer."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import click
from msgspec import Struct

from prowess._internal.places import OTHERS, exposed
from prowess._internal.text.terminal_text import printable_line
from prowess.cli.key_files import key_file_bytes
from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.http_server.login.oidc.settings import OidcSettings
    from prowess.http_server.login.settings import LoginSettings

_FILE = click.Path(exists=True, dir_okay=False)
_MOST_BYTES = 4096
_OPTIONS = together(
    click.option(
        "--public-url", metavar="URL", help="Address of this server in browsers, such as https://skills.example.com."
    ),
    click.option("--oidc", "issuer", metavar="ISSUER", help="Log people in by this OpenID Connect issuer too."),
    click.option("--client-id", metavar="ID", help="Name of this server at the issuer."),
    click.option("--client-secret-file", type=_FILE, metavar="FILE", help="The secret of this server at the issuer."),
    click.option(
        "--client-auth",
        type=click.Choice(("basic", "post")),
        default="basic",
        show_default=True,
        help="How the secret is sent to the issuer.",
    ),
    click.option("--user-claim", metavar="NAME", default="sub", show_default=True, help="Claim that names the person."),
    click.option("--groups-claim", metavar="NAME", default="groups", show_default=True, help="Claim with the groups."),
    click.option("--tenant-claim", metavar="NAME", help="Claim that names the tenant (without it: default)."),
    click.option("--team-claim", metavar="NAME", help="Claim that names the team."),
    click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Ask the issuer for this scope. Repeatable."),
)


class LoginOptions(Struct, frozen=True, kw_only=True):
    """The options about logins of one command line."""

    public_url: str | None
    issuer: str | None
    client_id: str | None
    client_secret_file: str | None
    client_auth: Literal["basic", "post"]
    user_claim: str
    groups_claim: str
    tenant_claim: str | None
    team_claim: str | None
    scopes: tuple[str, ...]

    def settings(self, host: str, port: int) -> LoginSettings:
        """Return the settings of logins of a server that listens here.

        Raises:
            click.UsageError: options are missing or do not fit together.
            ConfigurationError: the public URL or the issuer is not one.
        """
        # Imported here because only this command needs the libraries of the server.
        from prowess.http_server.login.settings import LoginSettings, public_origin

        public = None if self.public_url is None else public_origin(self.public_url, "--public-url")
        if self.issuer is None:
            if self.client_id is not None or self.client_secret_file is not None:
                raise click.UsageError("--client-id and --client-secret-file need --oidc ISSUER")
            return LoginSettings(public_url=public)
        if public is None and not port:
            raise click.UsageError("--oidc needs --public-url, or --http with a port: the issuer must know the address")
        shown = f"[{host}]" if ":" in host else host
        return LoginSettings(public_url=public, oidc=self._oidc(self.issuer, public or f"http://{shown}:{port}"))

    def _oidc(self, issuer: str, origin: str) -> OidcSettings:
        from prowess.http_server.login.oidc.settings import OidcSettings  # Imported here for the same reason.
        from prowess.http_server.login.settings import checked_issuer

        if self.client_id is None:
            raise click.UsageError("--oidc needs --client-id, as the issuer has registered this server")
        return OidcSettings(
            issuer=checked_issuer(issuer),
            origin=origin,
            client_id=self.client_id,
            client_secret=None if self.client_secret_file is None else _secret(self.client_secret_file),
            client_auth=self.client_auth,
            user_claim=self.user_claim,
            groups_claim=self.groups_claim,
            tenant_claim=self.tenant_claim,
            team_claim=self.team_claim,
            scopes=self.scopes,
        )


def login_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options; the command gets one argument `login`, a `LoginOptions`."""

    @wraps(command)
    def gathered(**given: Any) -> int:  # noqa: ANN401 -- the arguments of any command
        login = LoginOptions(**{name: given.pop(name) for name in LoginOptions.__struct_fields__})
        return command(login=login, **given)

    return _OPTIONS(gathered)


def _secret(path: str) -> str:
    if why := exposed(os.stat(path), path, bits=OTHERS):
        raise click.BadParameter(printable_line(f"it is not private: {why}"), param_hint="--client-secret-file")
    text = key_file_bytes(path, _MOST_BYTES).decode("utf-8", "replace").strip("\r\n")
    if not text or not text.isascii() or not text.isprintable():
        raise click.UsageError(f"{printable_line(path)} holds no secret; it is one line of printable ASCII")
    return text
