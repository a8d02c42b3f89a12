"""Reading files of a loaded skill: containment in the skill's directory, slices, sections."""
