"""The table `[packages]` of a policy file: which sources are permitted, signatures, and the age of deployments.

    [packages]
    sources = ["acme/*", "oci://ghcr.io/acme/*", "/srv/skills/*"]
    require_signature = true
    max_age = "7d"
    too_old = "hide"

A source is compared as a rule compares `skill.source`. If several files have the table, each of them must permit the
source, one demand for signatures is enough, and the least age and the strictest effect apply. A signature counts if it
is of a trusted publisher; for the machine's policy file, of one whom the machine trusts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from prowess.errors import PolicyError
from prowess.policy.decision import Deny, RuleOrigin
from prowess.policy.facts.publisher_names import publishers_trusted_by, signed_by
from prowess.policy.facts.skill_identity import fit_of_skills
from prowess.policy.tool_names import canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.rule import PolicyCall

TooOld = Literal["keep", "warn", "hide"]
TOO_OLD: tuple[TooOld, ...] = get_args(TooOld)  # from the mildest to the strictest
PACKAGE_KEYS = ("sources", "require_signature", "max_age", "too_old")
_BRINGS_SKILLS = frozenset({"packages.install", "packages.update", "packages.rollback"})
_AGE = re.compile(r"([0-9]{1,6})(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class PackageRules(Struct, frozen=True, kw_only=True):
    """The table of one file. A value is None if the file does not set it. `max_age` is in seconds.

    `machine_file` is the machine's policy file, for `publishers_trusted_by`. None if the file is judged by itself: then
    each signer counts.
    """

    sources: tuple[str, ...] | None = None
    require_signature: bool | None = None
    max_age: int | None = None
    too_old: TooOld | None = None
    origin: RuleOrigin
    machine_file: str | None = None

    def refusal(self, call: PolicyCall) -> Deny | None:
        """Return the denial of a call that would bring a skill against these rules, or None.

        A source that is not known is not permitted. A publisher that is pending is not judged yet.
        """
        if canonical_tool_name(call.tool) not in _BRINGS_SKILLS:
            return None
        waits = "allow" in call.pending_fits
        wanted = {"source": self.sources or ()}
        if self.sources is not None and not fit_of_skills(wanted, call.about, refuses=False, pending=waits).certain:
            listed = ", ".join(self.sources) or "none"
            refused = self._of_other_sources(call.about)
            return self._denied("packages.sources", f"only these sources of skills are permitted: {listed}{refused}")
        if self.require_signature:
            try:
                unsigned = self._unsigned([one for one in call.about if not waits or "publisher" not in one.pending])
            except PolicyError as fault:
                return self._denied("packages.require_signature", str(fault))
            if unsigned:
                names = ", ".join(skill.name or "a skill" for skill in unsigned)
                reason = f"it has no verified signature of a trusted publisher: {names}"
                return self._denied("packages.require_signature", reason)
        return None

    def _of_other_sources(self, skills: Iterable[SkillIdentity]) -> str:
        """Return the end of the reason: each skill whose source is not permitted, or the source alone."""
        wanted = {"source": self.sources or ()}
        wrong = [skill for skill in skills if not fit_of_skills(wanted, (skill,), refuses=False).certain]
        named = [f"{one.name} of {one.sources[0]}" if one.name else one.sources[0] for one in wrong if one.sources]
        return f"; refused: {', '.join(dict.fromkeys(named))}" if named else ""

    def _unsigned(self, known: Sequence[SkillIdentity]) -> list[SkillIdentity]:
        unsigned = [skill for skill in known if not skill.publisher]
        if unsigned or self.machine_file is None or not known:
            return unsigned
        trusted = publishers_trusted_by(self.origin.path, self.machine_file)
        return [skill for skill in known if not signed_by(skill.publisher or "", trusted)]

    def _denied(self, rule: str, reason: str) -> Deny:
        return Deny(rule=rule, reason=reason, origin=self.origin)


def seconds_of(text: str) -> int | None:
    """Return the seconds of a text such as `90s`, `30m`, `12h` or `7d`; None for any other text."""
    found = _AGE.fullmatch(text)
    return None if found is None else int(found[1]) * _SECONDS[found[2]]
