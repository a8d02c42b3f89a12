from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from prowess.errors import InvalidArgumentsError
from prowess.runtime.tools.list import cursor_after, last_before, position_of

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.text(min_size=1, max_size=80).filter(lambda name: name.encode("utf-8", "ignore").decode() == name))
def test_a_cursor_gives_back_what_it_was_made_from(name: str) -> None:
    assert last_before(cursor_after(name)) == name


def test_without_a_cursor_a_list_begins_at_its_beginning() -> None:
    assert [last_before(None), last_before(""), position_of(None)] == ["", "", 0]
    assert position_of(cursor_after(200)) == 200


@pytest.mark.parametrize(
    "cursor", ["zz", "alpha", "200", "\ud800", "ü", "YWZ0ZXI6", "YWZ0ZXI6YQ==", "YWZ0ZXI6/w", "a" * 9000]
)
def test_what_is_no_cursor_of_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="cursor"):
        last_before(cursor)


@pytest.mark.parametrize("last", ["alpha", "-1", "1" * 30, "\u0661"])
def test_a_cursor_of_another_list_is_no_position(last: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        position_of(cursor_after(last))


@pytest.mark.anyio
async def test_every_list_refuses_a_cursor_that_it_did_not_give(in_process: Callable[..., Any]) -> None:
    async with in_process() as client:
        result = await client.call_tool("skills_list", {"cursor": "zz"})
        assert result.meta["prowess/error"]["code"] == "invalid_arguments"
        for page in (client.list_resources, client.list_prompts):
            with pytest.raises(MCPError) as refused:
                await page(cursor="zz")
            assert refused.value.error.code == -32602
