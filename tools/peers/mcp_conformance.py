"""The official MCP conformance suite against our server over HTTP and against our client of the Skills extension.

Run are, at 2025-11-25 and at 2026-07-28: every scenario of the Skills extension, for servers and for clients, and those
of the protocol that need no tools of the suite's own test server. `--force` is needed because extensions are on no
timeline of the protocol, so the suite skips their scenarios at every dated version.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE, SUITE, PROWESS, ROOT = sys.argv[1:5]
CLIENT = Path(__file__).with_name("mcp_conformance_client.py")
SKILLS = [f"sep-2640-skills-{name}" for name in ("enumeration", "manifest", "directory")]
CLIENTS = [f"sep-2640-client-{name}" for name in ("no-prefetch", "verify-digest", "verify-size", "verify-frontmatter")]
PROTOCOL = {
    "2025-11-25": [
        *("server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list"),
        *("server-sse-multiple-streams", "dns-rebinding-protection"),
    ],
    "2026-07-28": [
        *("tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching"),
        *("http-header-validation", "server-sse-multiple-streams", "dns-rebinding-protection"),
    ],
}


@contextmanager
def served() -> Iterator[str]:
    """Serve the skills over HTTP and give the URL."""
    command = [PROWESS, "serve", "--root", ROOT, "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            while "Serving MCP at " not in (line := server.stderr.readline()):
                assert line, "the server did not start"
            yield line.split()[3].rstrip(";")
        finally:
            server.terminate()


def counted(side: list[str], scenario: str, version: str) -> tuple[int, int, int]:
    """Run one scenario; return how many checks passed, failed, and do not apply."""
    with tempfile.TemporaryDirectory() as place:
        command = [NODE, SUITE, *side, "--scenario", scenario, "--spec-version", version, "--force", "-o", place]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        found = [check for file in Path(place).rglob("checks.json") for check in json.loads(file.read_text())]
    kinds = [check["status"] for check in found]
    failed = sum(kind in {"FAILURE", "WARNING"} for kind in kinds) + (not kinds)
    if failed:
        print(ran.stdout[-3000:], ran.stderr[-3000:])
    return kinds.count("SUCCESS"), failed, kinds.count("SKIPPED")


def main() -> int:
    """Run every scenario at both versions; 1 if a check failed."""
    wrong = 0
    with served() as url:
        server = ["server", "--url", url]
        client = ["client", "--command", f"{sys.executable} {CLIENT}"]
        for version, protocol in PROTOCOL.items():
            for what, side, scenarios in (
                ("skills, server", server, SKILLS),
                ("skills, client", client, CLIENTS),
                ("protocol, server", server, protocol),
            ):
                sums = [counted(side, scenario, version) for scenario in scenarios]
                passed, failed, skipped = (sum(one) for one in zip(*sums, strict=True))
                rest = f", {skipped} do not apply" if skipped else ""
                print(f"   {version}  {what}: {len(scenarios)} scenarios, {passed} passed, {failed} failed{rest}")
                wrong += failed
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
