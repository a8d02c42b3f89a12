"""Which environment variables a caller may set for a script, decided by their names.

Some variables belong to the sandbox. Others tell a loader or an interpreter which code to load: a script with one of
them would run code that is not its own.
"""

from __future__ import annotations

import re

BASE_NAMES = frozenset(  # Set by the sandbox itself; PWD comes from the working directory.
    {"PATH", "HOME", "LANG", "TMPDIR", "SKILL_DIR", "PYTHONPATH", "SESSION_ID", "OUT", "WORKSPACE", "PWD", "OLDPWD"}
)

_REFUSED_PREFIXES = (
    "LD_",
    "DYLD_",
    "GLIBC_",
    "MALLOC_",
    "PYTHON",
    "PERL5",
    "PERLLIB",
    "RUBY",
    "LUA_",
    "BASH_",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_",
    "OPENSSL_",
)
_REFUSED_NAMES = frozenset(
    {
        "ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "IFS",
        "PS4",
        "CDPATH",
        "GCONV_PATH",
        "GETCONF_DIR",
        "HOSTALIASES",
        "LOCPATH",
        "LOCALDOMAIN",
        "NLSPATH",
        "RES_OPTIONS",
        "RESOLV_HOST_CONF",
        "TZDIR",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "TCLLIBPATH",
    },
)
_NAME = r"(?a)[A-Za-z_][A-Za-z0-9_]*"


def name_fault(name: str) -> str | None:
    """Return why a variable of this name may not be set for a script; None if it may."""
    if not re.fullmatch(_NAME, name):
        return f"env name {name!r} is not a variable name: letters, digits and _ only, not starting with a digit"
    if name in BASE_NAMES:
        return f"env variable {name} is set by the sandbox and cannot be replaced"
    if name in _REFUSED_NAMES or name.startswith(_REFUSED_PREFIXES):
        return f"env variable {name} is refused: it changes what a loader or an interpreter loads"
    return None
