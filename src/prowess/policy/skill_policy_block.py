"""Policy files in YAML: the block `skill-policy` of the platform requirements 003, script execution security.

    skill-policy:
      require-approval-for:
        - scripts
        - network-tools
        - file-write

Each word is a rule that asks before a skill with this capability is loaded. All other calls are decided as if there
were no policy file. The file lies beside `policy.toml` as `policy.yaml`, and both apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.near_words import near_words
from prowess._internal.yaml_reader import Mapping, Scalar, Sequence, read_yaml
from prowess.errors import PolicyError
from prowess.policy.decision import RuleOrigin
from prowess.policy.facts.capabilities import APPROVED_CAPABILITIES
from prowess.policy.rule import ArgumentMatch, PolicyRule

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node

_BLOCK, _LIST = "skill-policy", "require-approval-for"


def rules_of_block(path: str, data: bytes) -> tuple[PolicyRule, ...]:
    """Return the rules of a YAML file with these bytes. Raise PolicyError with every fault."""
    try:
        block = _Block(path, data.decode("utf-8"))
    except UnicodeDecodeError as fault:
        raise PolicyError((f"{path}: {fault}",)) from None
    rules = block.rules()
    if block.faults:
        raise PolicyError(tuple(block.faults))
    return rules


class _Block:
    def __init__(self, path: str, text: str) -> None:
        self._path, self._text = path, text
        self.faults: list[str] = []

    def rules(self) -> tuple[PolicyRule, ...]:
        reading = read_yaml(self._text)
        for fault in reading.faults:
            self._fault(fault.offset, fault.problem or f"{fault.construct} is not supported")
        if self.faults:
            return ()
        listed = self._value(self._value(reading.root, _BLOCK), _LIST)
        if listed is None or not isinstance(listed, Sequence):
            if not self.faults:
                self._fault(0 if listed is None else listed.start, f"{_BLOCK}.{_LIST} must be a list")
            return ()
        return tuple(rule for item in listed.items if (rule := self._rule(item)) is not None)

    def _value(self, node: Node | None, key: str) -> Node | None:
        """Return the value of the only key that a mapping may have. Report every other key."""
        if not isinstance(node, Mapping):
            if not self.faults:
                self._fault(0 if node is None else node.start, f"must be a mapping with the key {key}")
            return None
        found = None
        for name, value in node.entries:
            if isinstance(name, Scalar) and name.text == key and found is None:
                found = value
            else:
                self._fault(name.start, f"the only key here is {key}, once")
        return found

    def _rule(self, item: Node) -> PolicyRule | None:
        word = item.text if isinstance(item, Scalar) else ""
        if word not in APPROVED_CAPABILITIES:
            near = near_words(word, APPROVED_CAPABILITIES)
            meant = f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(APPROVED_CAPABILITIES)}"
            self._fault(item.start, f"{_LIST}: {word[:80]!r} is not known; {meant}")
            return None
        return PolicyRule(
            effect="ask",
            tool="skills.load",
            matches=(ArgumentMatch(argument="skill.capability", patterns=(word,)),),
            reason=f"skills with the capability {word} need an approval ({_BLOCK})",
            origin=RuleOrigin(path=self._path, line=self._line(item.start)),
        )

    def _line(self, offset: int) -> int:
        return self._text.count("\n", 0, offset) + 1

    def _fault(self, offset: int, what: str) -> None:
        self.faults.append(f"{self._path}:{self._line(offset)}: {what}")
