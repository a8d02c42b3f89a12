"""A deployment with keys, skills and hosts, used through the command line."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from prowess.cli.dispatch import run
from prowess.signing.keys import new_private_key
from tests.distribution.making import files_of, make_skill
from tests.distribution.serving import Answer

if TYPE_CHECKING:
    from typing import Any

    Printed = Any  # the JSON document, or the error if there is none

    from pathlib import Path

    import pytest

SIGNERS = ("alice", "bob", "carol")


class Deployment:
    """A deployment of which two of three signers sign a release."""

    def __init__(self, place: Path, capfd: pytest.CaptureFixture[str], *, name: str = "deployment") -> None:
        self.place, self.capfd = place, capfd
        self.directory = place / name
        self.keys = place / f"{name}-keys"
        self.keys.mkdir(parents=True)
        for who in ("root", "online", *SIGNERS):
            key = new_private_key("ed25519" if who == "bob" else "p256")
            (self.keys / who).write_bytes(key.pem())
            (self.keys / who).chmod(0o600)
            (self.keys / f"{who}.pub").write_bytes(key.public.pem)
        signers = [part for who in SIGNERS for part in ("--signer", self.key(f"{who}.pub"))]
        command = ["registry", "init", str(self.directory), "--key", self.key("root"), "--online", self.key("online")]
        self.run([*command, *signers, "--threshold", "2"])

    @property
    def root(self) -> Path:
        """The root metadata that hosts trust."""
        return self.directory / "metadata" / "1.root.json"

    def key(self, who: str) -> str:
        """Return the path of a key."""
        return str(self.keys / who)

    def run(self, command: list[str], code: int = 0) -> Printed:
        """Run a command with `--json`, and return what it printed."""
        self.capfd.readouterr()
        found = run([*command, "--json"])
        printed = self.capfd.readouterr()
        assert found == code, printed
        return json.loads(printed.out) if printed.out else printed.err

    def signed_by(self, command: list[str], *signers: str, code: int = 0) -> Printed:
        """Run a command that signs."""
        return self.run([*command, *(part for who in signers for part in ("--key", self.key(who)))], code)

    def deploy(
        self, *names: str, body: str = "Read.", signers: tuple[str, ...] = ("alice", "bob"), code: int = 0
    ) -> Printed:
        """Write skills and deploy them."""
        skills = [str(make_skill(self.place / "skills", name, body=body)) for name in names]
        return self.signed_by(
            ["deploy", *skills, "--scope", "enterprise", "--to", str(self.directory)], *signers, code=code
        )

    def sync(self, host: str, code: int = 0, *, source: str | None = None, more: tuple[str, ...] = ()) -> Printed:
        """Bring a host to the present release, and return the report."""
        place = str(self.place / host)
        command = ["sync", "--from", source or str(self.directory), "--root", str(self.root), "--into", place]
        return self.run([*command, *more], code)

    def answers(self) -> dict[str, Answer]:
        """Return the files of the deployment as a web server sends them."""
        return {f"/{path}": Answer(data) for path, (data, _) in files_of(self.directory).items()}

    def skills(self, host: str) -> dict[str, tuple[bytes, bool]]:
        """Return the files that a host has."""
        return files_of(self.place / host / "skills")


def everything(root: Path) -> dict[str, tuple[str, bytes]]:
    """Return each file and link below a directory."""
    found: dict[str, tuple[str, bytes]] = {}
    for directory, _, names in os.walk(root):
        for name in (*names, "."):
            path = os.path.join(directory, name)
            if os.path.islink(path):
                found[path] = ("link", os.readlink(path).encode())
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = (oct(os.stat(path).st_mode), file.read())
    link = root / "skills"
    if link.is_symlink():
        found[str(link)] = ("link", os.readlink(link).encode())
    return found
