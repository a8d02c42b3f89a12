"""What a record of a caller lacks of the facts that rules match."""

from __future__ import annotations

from prowess.audit.caller import Caller
from prowess.runtime.identity import beyond_record


def test_a_user_with_the_name_of_a_role_is_not_left_out() -> None:
    caller = Caller(user="ada", roles=("root",))
    assert beyond_record(caller, {"user": ("ada", "root"), "role": ("root", "viewer")}) == {
        "user": ("root",),
        "role": ("viewer",),
    }
