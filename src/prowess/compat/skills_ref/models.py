"""The result of `read_properties`.

As in the reference library, its constructor takes positional arguments, its values can be changed, and their types are
not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class SkillProperties:
    """The six properties of a skill.

    A property that is absent in the file is None, including `metadata` from `read_properties`. A list in place of a
    text stays a list, as in the reference library; `prowess check` reports it.
    """

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: str | None = None
    metadata: dict[str, str] | None = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return the properties under their names in the file. Absent properties and empty metadata are left out."""
        optional = {
            "license": self.license,
            "compatibility": self.compatibility,
            "allowed-tools": self.allowed_tools,
            "metadata": self.metadata or None,
        }
        present = {name: value for name, value in optional.items() if value is not None}
        return {"name": self.name, "description": self.description, **present}
