"""The interface of the reference library `skills-ref` 0.1.1, on top of the parser of Prowess.

To switch, a program only needs `import prowess.compat.skills_ref as skills_ref`: names, messages and texts are those of
the reference library. The behaviour differs only if the reference library has a defect; `docs/reference/skills-ref.md`
lists each difference. The command is `python -m prowess.compat.skills_ref`. No command or module called `skills_ref` or
`agentskills` is installed, so the reference package can be installed too.
"""

from __future__ import annotations

from prowess.compat.skills_ref.errors import ParseError, SkillError, ValidationError
from prowess.compat.skills_ref.models import SkillProperties
from prowess.compat.skills_ref.parser import find_skill_md, read_properties
from prowess.compat.skills_ref.prompt import to_prompt
from prowess.compat.skills_ref.validator import validate

__version__ = "0.1.1"  # version of the reference library with this behaviour

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
