"""A container registry is contacted alone, and its password is found nowhere (strace, and all written files)."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.distribution.making import make_skill
from tests.distribution.registries import PASSWORD, USER, docker_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
    pytest.mark.unmeasured,  # processes under strace
]

BASIC = f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"


class Place:
    """A project in which commands contact one host, traced."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home
        (root / "project" / ".git").mkdir(parents=True)

    def prowess(self, host: str, *arguments: str) -> dict[str, object]:
        """Run a command, and require that only `host` was contacted and the password is nowhere."""
        trace = self.root / "trace"
        traced = ["strace", "-f", "-v", "-s", "65536", "-e", "trace=connect,sendto,execve", "-o", str(trace)]
        done = subprocess.run(
            [*traced, sys.executable, "-m", "prowess", *arguments, "--json"],
            cwd=self.root / "project",
            env={key: value for key, value in os.environ.items() if key != "CI"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.require_only(host, trace.read_text(errors="replace"))
        trace.unlink()
        secrets = (PASSWORD, BASIC.partition(" ")[2])
        for text in (done.stdout, done.stderr, *self._texts()):
            assert not any(secret in text for secret in secrets)
        report: dict[str, object] = json.loads(done.stdout)
        return report

    @staticmethod
    def require_only(host: str, trace: str) -> None:
        """Require that every connection led to `host`."""
        address, _, port = host.partition(":")
        led = [line for line in trace.splitlines() if "connect(" in line and "AF_INET" in line]
        assert led
        for line in led:
            assert f"sin_port=htons({port})" in line, line
            assert f'inet_addr("{address}")' in line, line
        for line in trace.splitlines():
            arguments = re.search(r"execve\((.*?\]), ", line)
            assert arguments is None or PASSWORD not in arguments[1]

    def _texts(self) -> Iterator[str]:
        for place in (self.home, self.root / "project"):
            for path in place.rglob("*"):
                if path.is_file() and path.name not in {".netrc", "config.json"}:
                    yield path.read_bytes().decode("latin-1")


@pytest.fixture
def place(tmp_path: Path, own_home: Path) -> Place:
    """Return a project, with a skill beside it."""
    make_skill(tmp_path / "skills", "pdf")
    return Place(tmp_path, own_home)


def test_a_container_registry_behind_a_login(place: Place, own_home: Path) -> None:
    with docker_registry(place.root / "docker", with_login=True) as host:
        (own_home / ".docker").mkdir()
        logins = {"auths": {host: {"auth": BASIC.partition(" ")[2]}}}
        (own_home / ".docker" / "config.json").write_text(json.dumps(logins))
        place.prowess(host, "publish", str(place.root / "skills"), "--to", f"oci://{host}/acme")
        report = place.prowess(host, "install", f"oci://{host}/acme/pdf")
        assert report["contacted"] == [host]
