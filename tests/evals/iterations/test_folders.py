"""The files that all commands write into an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import UnavailableError
from prowess.evals.iterations.folders import write_json

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_cannot_be_written_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "full").touch()  # any error of the system will do
    with pytest.raises(UnavailableError, match=r"the file .*report\.json \(it cannot be written: .* free space"):
        write_json(str(tmp_path / "full" / "report.json"), {})
