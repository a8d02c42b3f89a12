from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.governance.machine.machines import Machine, machine_in

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Return a machine without policy and service, for this test alone."""
    with machine_in(tmp_path_factory.mktemp("machine")) as found:
        yield found
