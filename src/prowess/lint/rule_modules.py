"""A rule by its id, imported when it is first asked for: `body.unclosedFence` is `rules.body_unclosed_fence`.

The id names the module and the module its class, so that no table has to be kept but of exceptions.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from prowess.lint.subject import LintSubject
    from prowess.rule_engine import Rule

_NAMES = {"hooks.missing": "hook_missing"}
_KNOWN: dict[str, Rule[LintSubject]] = {}


def rule_of(rule_id: str) -> Rule[LintSubject]:
    """Return the rule of this id.

    Raises:
        ModuleNotFoundError: there is none.
    """
    known = _KNOWN.get(rule_id)
    if known is None:
        name = _NAMES.get(rule_id) or "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in rule_id)
        name = name.replace(".", "_").replace("-", "_")
        made = getattr(import_module(f"prowess.lint.rules.{name}"), "".join(map(str.capitalize, name.split("_"))))()
        known = _KNOWN.setdefault(rule_id, made)
    return known
