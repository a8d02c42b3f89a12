"""Blocks and policies of an organisation: what is refused, what is listed, and in which tenant it holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from prowess.errors import ConfigurationError, PolicyDeniedError, PolicyError
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.listing import ListQuery, NoSuchItemError
from prowess.governance.service.policies import NewPolicy, PolicyService

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.service.blocks import SharedBlock
    from prowess.governance.service.service_call import ServiceCall

_DENY = 'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.*"\nmatch = { skill.name = "deploy" }\n'
_EXPECT = '[[expect]]\ncall = { tool = "skills.load", skill = { name = "deploy" } }\neffect = "%s"\n'


def _block(reason: str = "leaks", **match: str) -> NewBlock:
    return NewBlock(match=BlockMatch(**match), reason=reason)


def test_a_block_is_added_once_listed_and_lifted(call_of: Callable[..., ServiceCall]) -> None:
    service = BlockService(call_of())
    first = service.add(_block(name="Deploy"))
    again = service.add(_block("other words", name="deploy"))
    assert (first.created, again.created, again.id, again.generation) == (True, False, first.id, first.generation)
    assert service.get(first.id).match == BlockMatch(name="Deploy")
    others = [service.add(_block(file=64 * str(number))).id for number in range(3)]
    page = service.list(ListQuery(limit=3))
    rest = service.list(ListQuery(limit=3, cursor=page.next))
    assert sorted(one.id for one in (*page.items, *rest.items)) == sorted([first.id, *others])
    assert (len(page.items), rest.next) == (3, None)
    assert (service.remove(first.id).generation or 0) > (first.generation or 0)
    for gone in (service.get, service.remove):
        with pytest.raises(NoSuchItemError, match="there is no block"):
            gone(first.id)


def test_equal_blocks_that_are_made_at_once_are_one(call_of: Callable[..., ServiceCall]) -> None:
    begin = Barrier(4)

    def add(name: str) -> SharedBlock:
        service = BlockService(call_of())
        begin.wait(10)
        return service.add(_block(name=name))

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(add, ["deploy", "Deploy", "DEPLOY", "deploy"]))
    assert (len({one.id for one in found}), sum(one.created or False for one in found)) == (1, 1)
    assert [one.id for one in BlockService(call_of()).list(ListQuery()).items] == [found[0].id]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (_block(), "exactly one of"),
        (_block(name="a", source="b"), "exactly one of"),
        (_block(digest="abc"), "not the digest of a skill"),
        (_block(name="dep*"), "is a pattern"),
        (_block(publisher="acme"), "no publisher"),
        (_block(" ", name="a"), "the reason must be"),
    ],
)
def test_a_faulty_block_is_refused(new: NewBlock, said: str, call_of: Callable[..., ServiceCall]) -> None:
    service = BlockService(call_of())
    with pytest.raises(ConfigurationError, match=said):
        service.add(new)
    assert service.list(ListQuery()).items == ()


def test_a_block_of_the_organisation_is_lifted_by_it_alone(call_of: Callable[..., ServiceCall]) -> None:
    given = BlockService(call_of(tenant="*")).add(_block(name="deploy"))
    own = BlockService(call_of())
    assert [(one.id, one.tenant) for one in own.list(ListQuery()).items] == [(given.id, "*")]
    with pytest.raises(NoSuchItemError, match="no block of the tenant default; it is one of the organisation"):
        own.remove(given.id)
    assert own.add(_block(name="deploy")).created  # its own one would stay if the organisation lifts the other
    for role in ("viewer", "approver", "machine"):
        with pytest.raises(PolicyDeniedError, match="needs the role administrator"):
            BlockService(call_of("eve", role)).add(_block(name="other"))


def test_a_policy_is_put_if_it_has_no_fault_and_does_what_it_expects(call_of: Callable[..., ServiceCall]) -> None:
    service = PolicyService(call_of())
    with pytest.raises(PolicyError) as faulty:
        service.put("base", NewPolicy(toml='defalt = "deny"\n[[rule]]\neffect = "never"\ntool = "Bash"\n'))
    assert [place.partition(": ")[0] for place in faulty.value.problems] == [
        "store:default/base.toml:1",
        "store:default/base.toml:3",
    ]
    with pytest.raises(PolicyError, match=r"expected allow for skills\.load.*decided deny by rule"):
        service.put("base", NewPolicy(toml=_DENY + _EXPECT % "allow"))
    with pytest.raises(NoSuchItemError):
        service.get("base")
    put = service.put("base", NewPolicy(toml=_DENY + _EXPECT % "deny"))
    assert (put.number, put.rules, put.tenant, service.get("base").toml) == (1, 1, "default", put.toml)
    again = service.put("base", NewPolicy(toml=""))
    assert (again.number, (again.generation or 0) > (put.generation or 0)) == (2, True)
    assert [one.name for one in service.list(ListQuery()).items] == ["base"]
    assert service.remove("base").name == "base"
    assert service.list(ListQuery()).items == ()


def test_who_accepts_a_policy_sees_it_before_it_is_written(call_of: Callable[..., ServiceCall]) -> None:
    service, seen = PolicyService(call_of()), []

    def refuse(file: object) -> None:
        seen.append(file)
        raise PolicyDeniedError("accept", "it would deny 12 calls")

    with pytest.raises(PolicyDeniedError, match="12 calls"):
        service.put("base", NewPolicy(toml=_DENY), accept=refuse)
    assert (len(seen), service.list(ListQuery()).items) == (1, ())


@pytest.mark.parametrize("name", ["", "../a", "a/b", "-a", "a b", 65 * "a", "a\n"])
def test_a_name_that_could_be_a_path_or_a_line_is_refused(name: str, call_of: Callable[..., ServiceCall]) -> None:
    with pytest.raises(ConfigurationError, match="is no name of a policy"):
        PolicyService(call_of()).put(name, NewPolicy(toml=""))


def test_only_administrators_put_policies(call_of: Callable[..., ServiceCall]) -> None:
    for role in ("viewer", "author", "approver", "machine"):
        with pytest.raises(PolicyDeniedError, match="needs the role administrator"):
            PolicyService(call_of("eve", role)).put("base", NewPolicy(toml=""))
