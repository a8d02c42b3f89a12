"""The sandbox for a user who is not root: the same walls, and the kernel's own limit on processes."""

from __future__ import annotations

import json
import os
import resource  # noqa: F401 -- the other user may not be able to read this Python's library, where it would come from
import tempfile
from typing import TYPE_CHECKING

import pytest

from prowess.execution.request import ExecLimits, ExecRequest
from tests import forked

if TYPE_CHECKING:
    from prowess.execution.backends.bubblewrap import BubblewrapSandbox

_SOMEBODY = 12345
_SCRIPT = """
import os, json, time
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        made += 1
except OSError:
    pass
open('/out/made', 'w').write('x')
print(json.dumps({"made": made, "uid": os.getuid()}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_runs_scripts_with_the_same_walls(sandbox: BubblewrapSandbox) -> None:
    with tempfile.TemporaryDirectory(prefix="prowess-test-") as place:
        os.chmod(place, 0o777)
        with open(f"{place}/run.py", "w", encoding="ascii") as file:
            file.write(_SCRIPT)
        limits = ExecLimits(processes=10, wall_seconds=10)
        request = ExecRequest(skill_dir=place, script="run.py", out_dir=f"{place}/out", limits=limits)
        reader, writer = os.pipe()
        wake, keep = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(_SOMEBODY)
                os.setuid(_SOMEBODY)
                result = sandbox.run_blocking(request, wake)
                names = [artifact.name for artifact in result.artifacts]
                said = {**json.loads(result.stdout), "artifacts": names, "enforced": result.guarantees.enforced}
                os.write(writer, json.dumps(said).encode())
            except Exception as fault:  # noqa: BLE001 -- whatever it is, the parent's assertion shows it
                os.write(writer, json.dumps({"fault": repr(fault)}).encode())
            finally:
                forked.end(0)
        os.close(writer)
        with open(reader, "rb") as answer:
            said = json.loads(answer.read())
        os.waitpid(child, 0)
        for fd in (wake, keep):
            os.close(fd)
    assert "fault" not in said, said
    assert 0 < said["made"] < 10
    assert said["uid"] == 65534
    assert said["artifacts"] == ["made"]
    assert "processes" in said["enforced"]
    assert "memory" not in said["enforced"]
