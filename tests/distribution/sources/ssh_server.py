"""An ssh server on loopback that runs `git-upload-pack`, for the tests of git over ssh. Started with its own Python.

ssh_server.py HOST_KEY AUTHORIZED_KEYS: prints the port, and ends with its input.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys

import asyncssh  # type: ignore[import-not-found]  # only in the environment that runs this file


async def handle(process: asyncssh.SSHServerProcess) -> None:
    program, *arguments = shlex.split(process.command or "")
    if program != "git-upload-pack":
        process.exit(1)
        return
    environ = {"PATH": os.environ["PATH"], "GIT_PROTOCOL": process.env.get("GIT_PROTOCOL", "")}
    child = await asyncio.create_subprocess_exec(
        "git", "upload-pack", *arguments, env=environ, stdin=-1, stdout=-1, stderr=-1
    )
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    process.exit(await child.wait())


async def main() -> None:
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[sys.argv[1]],
        authorized_client_keys=sys.argv[2],
        process_factory=handle,
        encoding=None,
    )
    sys.stdout.write(f"{server.get_port()}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
