"""Every module of the package can be imported, and prints nothing."""

from __future__ import annotations

import subprocess
import sys

# In its own process, because the tests have imported most modules already.
_IMPORT_ALL = """
import importlib, pkgutil, prowess
from prowess.errors import MissingExtraError

for found in pkgutil.walk_packages(prowess.__path__, "prowess."):
    if found.name.endswith("__main__") or ".probes." in found.name:
        continue  # they run when they are imported
    try:
        importlib.import_module(found.name)
    except MissingExtraError as missing:
        assert "pip install" in str(missing), missing
"""


def test_every_module_can_be_imported_and_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT_ALL], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
