"""Where the policy files of a machine and of a user lie; looked up without reading a policy."""

from __future__ import annotations

import os

from prowess._internal.places import prowess_home

ENTERPRISE_FILE = "/etc/prowess/policy.toml"
FILE_NAME = "policy.toml"


def policy_places(enterprise_file: str = ENTERPRISE_FILE) -> tuple[str, str]:
    """Return the files that hold wherever they exist, the stronger first: the machine's and the user's."""
    return enterprise_file, os.path.join(prowess_home(), FILE_NAME)
