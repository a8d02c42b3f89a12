from __future__ import annotations

import pytest

from prowess._internal.text.variable_names import BASE_NAMES
from prowess.errors import InvalidArgumentsError
from prowess.execution.environment import base_environment, check_environment

REFUSED = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "SHELLOPTS",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LUA_INIT",
    "OPENSSL_CONF",
]


@pytest.mark.parametrize("name", [*REFUSED, *sorted(BASE_NAMES)])
def test_variables_that_change_what_runs_are_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=name):
        check_environment({name: "x"})


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A=B", "A B", "Ä", "A\n"])
def test_what_is_no_name_of_a_variable_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="not a variable name"):
        check_environment({name: "x"})


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(InvalidArgumentsError) as fault:
        check_environment({"LD_PRELOAD": "x", "FINE": "y", "NUL": "a\0b", "LONG": "x" * 140_000})
    assert len(fault.value.problems) == 3


def test_at_most_256_variables() -> None:
    check_environment({f"V{number}": "" for number in range(256)})
    with pytest.raises(InvalidArgumentsError, match="257"):
        check_environment({f"V{number}": "" for number in range(257)})


def test_ordinary_variables_pass() -> None:
    check_environment(
        {"TZ": "Europe/Berlin", "LC_ALL": "C", "API_URL": "http://x", "_": "", "PYX": "", "ENVIRONMENT": ""}
    )


def test_workspace_is_named_only_where_there_is_one() -> None:
    assert "WORKSPACE" not in base_environment(session_id="s", workspace=False)
    assert base_environment(session_id="s", workspace=True)["WORKSPACE"] == "/workspace"
    assert set(base_environment(session_id="s", workspace=True)) <= BASE_NAMES
