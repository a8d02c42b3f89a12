#!/usr/bin/env python3
"""Try to open one TCP connection and print what came of it as one line of JSON.

Exit codes: 0 reached, 2 wrong command line, 3 not reached.
"""

from __future__ import annotations

import argparse
import errno
import json
import socket
import sys

SECONDS = 3.0


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        description="Try to open one TCP connection.", epilog="Example: connect.py 127.0.0.1 80"
    )
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    try:
        with socket.create_connection((options.host, options.port), timeout=SECONDS):
            print(json.dumps({"reached": True, "errno": None}))
            return 0
    except OSError as fault:
        name = errno.errorcode.get(fault.errno or 0, "ETIMEDOUT" if isinstance(fault, TimeoutError) else str(fault))
        print(json.dumps({"reached": False, "errno": name}))
        return 3


if __name__ == "__main__":
    sys.exit(main())
