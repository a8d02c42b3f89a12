"""The environment in which git runs: no configuration of a repository, and little of the user.

Git reads no configuration file. From the user's and the machine's configuration the settings for credentials, proxies,
certificates and ssh are passed on, because they say how to reach a server. Everything else is left out: hooks, filters,
aliases, replaced URLs, templates and the monitor of files.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What ssh, credential helpers and TLS need. Names in upper and lower case as programs read them.
_KEPT = re.compile(
    r"(?:PATH|HOME|USER|LOGNAME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TMPDIR|TEMP|TMP|"
    r"XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|"
    r"SSH_AUTH_SOCK|SSH_AGENT_PID|GIT_SSH|GIT_SSH_COMMAND|GIT_SSH_VARIANT|GIT_ASKPASS|"
    r"GIT_SSL_(?:CAINFO|CAPATH|CERT|KEY)|SSL_CERT_(?:FILE|DIR)|(?:HTTPS?|ALL|NO)_PROXY|CURL_CA_BUNDLE|"
    r"GH_TOKEN|GITHUB_TOKEN|GH_CONFIG_DIR|GH_HOST)",
    re.IGNORECASE,
)
_SETTINGS = (
    r"^(credential\..*|core\.sshcommand|ssh\.variant|"
    r"http\.(.*\.)?(proxy|proxyauthmethod|sslcainfo|sslcapath|sslcert|sslkey|sslbackend|sslversion|extraheader|"
    r"emptyauth|delegation|version))$"
)
_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_OWN_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("protocol.version", "2"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.unpackLimit", "1"),  # a pack is read faster than loose objects
    ("http.followRedirects", "false"),  # git cannot be told which hosts are allowed
    ("http.lowSpeedLimit", "1000"),
    ("http.lowSpeedTime", "30"),
)
_SSH = "ssh -o BatchMode=yes"  # never asks a question
_SECONDS = 20


def git_environment(git_dir: str, protocol: str) -> dict[str, str]:
    """Return the environment for the private repository `git_dir` that may use one protocol: https, http, ssh or file.

    Raises:
        DistributionError: git is not installed.
    """
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    settings = list(_OWN_SETTINGS)
    if protocol != "file":
        settings = [*_user_settings(kept), *settings]
        if not any(key.lower() == "core.sshcommand" for key, _ in settings):
            kept.setdefault("GIT_SSH_COMMAND", _SSH)
    return {
        **kept,
        **_FIXED,
        "GIT_DIR": git_dir,
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings)},
    }


def _user_settings(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of the machine and then of the user that say how to reach a server."""
    for scope in ("--system", "--global"):
        command = ["git", "config", scope, "--includes", "--null", "--get-regexp", _SETTINGS]
        try:
            found = subprocess.run(
                command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
            )
        except FileNotFoundError:
            raise DistributionError("git is not installed, and this source needs it; install git") from None
        except subprocess.TimeoutExpired:
            continue
        for entry in found.stdout.decode(errors="surrogateescape").split("\0"):
            key, newline, value = entry.partition("\n")
            if newline:  # without a value it is no setting that is needed here
                yield key, value
