"""Judging calls for a host that runs its tools itself: it hears what is decided and acts on it.

Only `skills.load` and `skills.unload` are also carried out, where they are allowed: they change nothing but which
skills are active, and the judgement of the next call depends on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import SkillError
from prowess.policy.decision import Allow, effect_of
from prowess.policy.tool_names import canonical_tool_name
from prowess.tools.prompt_escaping import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.runtime.sync import SyncSession

_CARRIED_OUT = frozenset({"skills.load", "skills.unload"})


def judged(
    session: SyncSession, tool: str, arguments: Mapping[str, object], *, by_skills_alone: bool = False
) -> dict[str, object]:
    """Return `decision`, `rule` and `reason`; the rule is `file:line` where it stands in a policy file.

    Where a load or unload that is allowed fails, `error_detail` says why, as in the result of a call. Where it is not
    known what is active, as in a session that has ended, everything is denied under the code of that error.
    """
    failure: dict[str, object] = {}
    try:
        decision = session.decide(tool, arguments, by_skills_alone=by_skills_alone)
    except SkillError as error:
        return {"decision": "deny", "rule": error.code, "reason": sentence(str(error))}
    if isinstance(decision, Allow) and canonical_tool_name(tool) in _CARRIED_OUT:
        result = session.call(tool, arguments)
        failure = {} if result.success else {"error_detail": result.error_detail}
    rule = decision.rule if decision.origin is None else str(decision.origin)
    return {"decision": effect_of(decision), "rule": rule, "reason": sentence(decision.reason), **failure}
