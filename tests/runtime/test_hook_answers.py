"""What the output of a hook decides, without a process: a table, and thousands of drawn outputs."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from prowess.runtime.hooks.answer import NO_ANSWER, HookAnswer, UnreadableAnswerError, read_answer

if TYPE_CHECKING:
    from collections.abc import Callable


def answered(output: str | bytes, event: str = "PreToolUse") -> HookAnswer:
    return read_answer(output if isinstance(output, bytes) else output.encode(), event)


def pre(**keys: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **keys}})


_DECISIONS = [
    (pre(permissionDecision="allow"), "allow", ""),
    (pre(permissionDecision="deny", permissionDecisionReason="not today"), "deny", "not today"),
    (pre(permissionDecision="ask", permissionDecisionReason="sure?"), "ask", "sure?"),
    ('{"hookSpecificOutput":{"permissionDecision":"deny"}}', "deny", ""),
    ('{"permissionDecision":"deny","message":"outside"}', "deny", "outside"),  # older guards print it at the top
    ('{"permissionDecision":"ask","message":"outside"}', "ask", "outside"),
    ('{"decision":"block","reason":"no"}', "deny", "no"),
    ('{"decision":"block"}', "deny", ""),
    ('{"decision":"approve","reason":"fine"}', "allow", "fine"),
    ('{"continue":false,"stopReason":"stop"}', "deny", "stop"),
    ('{"continue":false,"reason":"why"}', "deny", "why"),
    ('{"continue":true}', None, ""),
    ("{}", None, ""),
    ("[guard] fine\n".replace("[guard]", "guard:"), None, ""),
    ("", None, ""),
    ("\ufeff{}", None, ""),
    ('\ufeff\n {"decision":"block","reason":"x"}\n\n', "deny", "x"),
    ('{"suppressOutput":true,"unknown":{"a":[1]}}', None, ""),
    # The formats of other hosts, at the top level.
    ('{"permission":"deny","message":"no"}', "deny", "no"),
    ('{"permission":"ask"}', "ask", ""),
    ('{"permission":"allow"}', "allow", ""),
    ('{"ok":false,"reason":"tests fail"}', "deny", "tests fail"),
    ('{"allow":false}', "deny", ""),
    ('{"ok":true,"allow":true}', None, ""),
    ('{"permission":"allow","ok":false}', "deny", ""),
    # The strictest counts.
    ('{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}', "deny", ""),
    ('{"decision":"block","reason":"b","hookSpecificOutput":{"permissionDecision":"allow"}}', "deny", "b"),
    ('{"continue":false,"stopReason":"s","hookSpecificOutput":{"permissionDecision":"allow"}}', "deny", "s"),
    ('{"permissionDecision":"allow","hookSpecificOutput":{"permissionDecision":"ask"}}', "ask", ""),
]


@pytest.mark.parametrize(("output", "decision", "reason"), _DECISIONS)
@pytest.mark.proves("runtime.hooks.decision")
def test_an_answer_decides_with_its_reason(output: str, decision: str | None, reason: str) -> None:
    answer = answered(output)
    assert (answer.decision, answer.reason) == (decision, reason)


def test_an_answer_carries_input_context_and_a_message() -> None:
    output = json.loads(pre(updatedInput={"decision": "mine", "a": 1}, additionalContext=" told "))
    answer = answered(json.dumps({**output, "systemMessage": "seen"}))
    assert answer == HookAnswer(updated_input={"decision": "mine", "a": 1}, context="told", message="seen")


def test_a_request_for_permission_is_answered_in_its_own_form() -> None:
    output = (
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}'
    )
    assert answered(output, "PermissionRequest") == HookAnswer(decision="deny", reason="no")
    for inner in ('{"behavior":"perhaps"}', "{}", '{"behavior":1}', '{"behavior":"deny","updatedPermissions":[]}'):
        with pytest.raises(UnreadableAnswerError):
            answered(output.replace('{"behavior":"deny","message":"no"}', inner), "PermissionRequest")


_UNREADABLE: list[str | bytes] = [
    "{", "[", "[]", '["deny"]', '{"decision":"block"', '{"decision":"block"} {}', "{'decision': 'block'}", "{]", "{,}",
    '{"decision":"deny"}', '{"decision":"Block"}', '{"decision":true}', '{"decision":null}', '{"decision":["block"]}',
    '{"permission":"no"}', '{"permission":false}', '{"Permission":"deny"}', '{"permissions":"deny"}', '{"ok":"false"}',
    '{"allow":0}', '{"ok":null}',
    '{"continue":"false"}', '{"continue":0}', '{"continue":null}', '{"stopReason":1,"continue":false}',
    pre(permissionDecision="Deny"), pre(permissionDecision="defer"), pre(permissionDecision=None),
    pre(permissionDecision=1),
    pre(permissionDecision=["deny"]), pre(updatedInput=[]), pre(updatedInput="{}"), pre(updatedInput=None),
    pre(permissionDecisionReason=3), pre(additionalContext=["a"]), pre(permission_decision="deny"),
    pre(PermissionDecision="deny"), '{"hookSpecificOutput":"deny"}', '{"hookSpecificOutput":[]}',
    '{"hookSpecificOutput":null}',
    '{"hookspecificoutput":{"permissionDecision":"deny"}}', '{"Continue":false}', '{"DECISION":"block"}',
    '{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}', '{"async":true}',
    '{"decision":"block","decision":"approve"}',
    '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}',
    '{"data":{"decision":"block"}}', '{"data":[{"permissionDecision":"deny"}]}',
    '{"hookSpecificOutput":{"inner":{"continue":false}}}',
    '{"a":NaN}', '{"a":Infinity}', '{"a":1e999}', '{"a":-1e999,"decision":"block"}', '{"reason":"\\ud800"}',
    b'{"reason":"\xff"}', b"\xff\xfe{\x00}\x00", b"\xfe\xff\x00{\x00}", '{"decision":"block"}'.encode("utf-16"),
    '{"decision":"block"}'.encode("utf-32"), "\u200b{}", "\x1b[0m{}", "\0{}", "\x0c{}", "\u00a0{}", "\ufeff\ufeff{}",
    "\u0301{}",
    "{" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, '{"a":' + "9" * 10_000 + "}",
    'checking...\n{"decision":"block","reason":"x"}', 'ok {"hookSpecificOutput": {"permissionDecision": "deny"}}',
    '"{\\"decision\\":\\"block\\"}"', "note: {'continue': False}", '// note\n{"Decision" : "block"}',
    '{"updatedInput":{},"hookSpecificOutput":{"updatedInput":{}}}',
    # A key that decides, where it decides nothing.
    pre(**{"continue": False}), pre(hookSpecificOutput={"permissionDecision": "deny"}), pre(behavior="deny"),
    '{"behavior":"deny","message":"no"}', '{"result":{"behavior":"deny"}}', '{"decision":{"decision":"block"}}',
    '{"decision":{"behavior":"allow","continue":false}}', 'checking\n{"behavior":"deny"}',
    'checking\n{"decision":"block"}'.encode("utf-16"), 'checking {"decision":"block"}'.encode("utf-32-be"),
]  # fmt: skip


@pytest.mark.parametrize("output", _UNREADABLE, ids=range(len(_UNREADABLE)))
@pytest.mark.proves("runtime.hooks.unreadable")
def test_what_could_decide_and_cannot_be_read_refuses(output: str | bytes) -> None:
    with pytest.raises(UnreadableAnswerError):
        answered(output)


@pytest.mark.proves("runtime.hooks.unreadable")
@pytest.mark.parametrize("kept", [b'{"a":1}', b'progress\n{"decision":"block"', b"progress\n", b" " * 1000, b""])
def test_output_that_was_cut_refuses_because_the_rest_could_decide(kept: bytes) -> None:
    with pytest.raises(UnreadableAnswerError, match="longer"):
        read_answer(kept, "PreToolUse", whole=False)


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "UserPromptSubmit", "pre", "post", "PostToolUseFailure"])
def test_input_can_be_changed_before_a_call_alone(event: str) -> None:
    with pytest.raises(UnreadableAnswerError, match="has no effect"):
        answered('{"hookSpecificOutput":{"updatedInput":{}}}', event)
    assert answered('{"decision":"block","reason":"r"}', event).decision == "deny"


def _deny(draw: random.Random) -> dict[str, Any]:
    """An answer that refuses, in one of the forms in use."""
    reason = "".join(draw.choice('no "\\{}[]:,\n\té\U0001f600') for _ in range(draw.randrange(12)))
    return draw.choice(
        [
            {"decision": "block", "reason": reason},
            {"continue": False, "stopReason": reason},
            {"permissionDecision": "deny", "message": reason},
            {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": reason}},
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}, "reason": reason},
        ]
    )


def _cut(draw: random.Random, text: bytes) -> bytes:
    return text[: draw.randrange(1, len(text))]


def _without(draw: random.Random, text: bytes) -> bytes:
    at = draw.randrange(len(text))
    return text[:at] + text[at + 1 :]


def _with(draw: random.Random, text: bytes) -> bytes:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice([b"\0", b"\xff", b"{", b"}", b'"', b",", b"\x1b[31m", b"\xef\xbb\xbf"]) + text[at:]


def _before(draw: random.Random, text: bytes) -> bytes:
    return (
        draw.choice([b"loading\n", b" ", b"\xef\xbb\xbf", b"\xe2\x80\x8b", b"\0", b"[x] ", b"null\n", b"{}\n"]) + text
    )


def _after(draw: random.Random, text: bytes) -> bytes:
    return text + draw.choice([b"\ndone", b"{}", b"\n", b"\0", b"]", b'{"decision":"approve"}'])


def _other_case(draw: random.Random, text: bytes) -> bytes:
    at = draw.randrange(len(text))
    return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]


def _other_encoding(draw: random.Random, text: bytes) -> bytes:
    return text.decode().encode(draw.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]))


def _twice(_: random.Random, text: bytes) -> bytes:
    return b'{"continue":true,"decision":"approve",' + text[1:]


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    _cut, _without, _with, _before, _after, _other_case, _other_encoding, _twice,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.proves("runtime.hooks.unreadable", "runtime.hooks.never-loosen")
def test_a_refusal_that_was_damaged_never_ends_as_a_permission(seed: int) -> None:
    """Either the refusal is still read, or the output is unreadable and refuses; what shows no key at all is text."""
    draw = random.Random(seed)
    for _ in range(1500):
        given = json.dumps(_deny(draw), ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 2])).encode()
        output = draw.choice(_MUTATIONS)(draw, given)
        try:
            answer = read_answer(output, "PreToolUse")
        except UnreadableAnswerError:
            continue
        assert answer.decision in {"deny", "ask"}, output


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_are_read_or_refused_and_raise_nothing_else(seed: int) -> None:
    draw = random.Random(seed)
    pieces = [
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"decision",
        b"block",
        b"null",
        b"\xff",
        b"\0",
        b" ",
        b"NaN",
        b"1",
    ]
    for _ in range(1500):
        output = b"".join(draw.choice(pieces) for _ in range(draw.randrange(20)))
        try:
            answer = read_answer(output, "PreToolUse")
        except UnreadableAnswerError:
            continue
        begins = output.replace(b"\0", b"").lstrip(b" \xff")[:1]
        assert answer == NO_ANSWER, output
        assert begins not in {b"{", b"["} or isinstance(json.loads(output), dict), output
