"""schemathesis over the OpenAPI document with all its checks: valid, invalid and stateful requests.

PROWESS_SCHEMATHESIS_EXAMPLES sets the examples of each operation, PROWESS_SCHEMATHESIS_SEEDS the seeds (`1,2,3`), and
PROWESS_SCHEMATHESIS_PHASES the phases (`coverage,fuzzing,stateful`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.http_server.organisation import ServedOrganisation, in_file
from tests.http_server.test_events import listening

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unmeasured

EXAMPLES = os.environ.get("PROWESS_SCHEMATHESIS_EXAMPLES", "1")
PHASES = os.environ.get("PROWESS_SCHEMATHESIS_PHASES", "coverage,fuzzing")
SEEDS = os.environ.get("PROWESS_SCHEMATHESIS_SEEDS", "1").split(",")
# What no schema can say: that a time has to be in the future, and that bytes are an archive of skills.
CONFIG = """
[[operations]]
include-name = ["POST /approvals/{id}/votes", "POST /deployments"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", "400", "401", "403", "404", "409", "5xx"]
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("acme")) as organisation:
        organisation.fill()
        yield organisation


@pytest.mark.parametrize("seed", SEEDS)
def test_no_request_finds_a_fault_of_the_interface(acme: ServedOrganisation, tmp_path: Path, seed: str) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    token = acme.token("administrator")
    with listening(acme) as port:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{port}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {token}", "--checks", "all", "--seed", seed, "--no-color"),
                # The stream of events lasts ten seconds each time; tests/http_server/test_events.py reads it.
                *("--max-examples", EXAMPLES, "--exclude-path", "/events", "--generation-database", "none"),
                *("--phases", PHASES),
            ],
            cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.http_server.schemathesis_hooks", "PYTHONPATH": ROOT},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr


ROOT = str(Path(__file__).parents[2])
