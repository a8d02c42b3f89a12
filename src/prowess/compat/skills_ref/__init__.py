"""The interface of the reference library `skills-ref` 0.1.1, over the parser of Prowess.

`import prowess.compat.skills_ref as skills_ref` is all that a program has to change: the names, the messages and the
texts are the reference library's. What differs is what is wrong there; `docs/skills-ref.md` lists each case.
`python -m prowess.compat.skills_ref` is its command. No command and no module called `skills_ref` or `agentskills` is
installed, so the reference package may stand beside this one.
"""

from __future__ import annotations

from prowess.compat.skills_ref.errors import ParseError, SkillError, ValidationError
from prowess.compat.skills_ref.models import SkillProperties
from prowess.compat.skills_ref.parser import find_skill_md, read_properties
from prowess.compat.skills_ref.prompt import to_prompt
from prowess.compat.skills_ref.validator import validate

__version__ = "0.1.1"  # of the reference library whose behaviour this is

__all__ = [
    "ParseError",
    "SkillError",
    "SkillProperties",
    "ValidationError",
    "__version__",
    "find_skill_md",
    "read_properties",
    "to_prompt",
    "validate",
]
