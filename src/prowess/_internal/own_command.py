"""The command of this installation, for programs that start it later: hosts of MCP servers, and git as merge driver."""

from __future__ import annotations

import os
import sys
import sysconfig


def own_command() -> list[str]:
    """Return the absolute command of this installation: its `prowess` script, else its interpreter with `-m`.

    The interpreter also gets `-P`, because the command may be started in any project. Without `-P`, Python would import
    modules from the working directory first.
    """
    script = os.path.join(sysconfig.get_path("scripts"), "prowess.exe" if os.name == "nt" else "prowess")
    return [script] if os.access(script, os.X_OK) else [os.path.abspath(sys.executable), "-P", "-m", "prowess"]
