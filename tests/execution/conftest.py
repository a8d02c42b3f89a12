from __future__ import annotations

import pytest

from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from tests.execution.bench import Bench

_SANDBOX = BubblewrapSandbox()  # one for all: a probe is kept


@pytest.fixture
def sandbox() -> BubblewrapSandbox:
    """The sandbox of this machine; a test that needs it is skipped where there is none."""
    report = _SANDBOX.probe()
    if not report.available:
        pytest.skip(report.hint)
    return _SANDBOX


@pytest.fixture
def bench(sandbox: BubblewrapSandbox, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A skill to put scripts into, a workspace, and a way to run them."""
    return Bench(sandbox, tmp_path_factory.mktemp("bench").resolve())
