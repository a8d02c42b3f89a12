"""How a file or directory that others may have made is opened: no link is followed, and nothing waits.

A flag that a system does not have is left out there: Windows knows no links of this kind, and alone tells text from
bytes.
"""

from __future__ import annotations

import os

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

# Without O_NONBLOCK, opening a pipe would wait for somebody who writes to it.
READ = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
READ_DIRECTORY = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
