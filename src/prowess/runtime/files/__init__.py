"""Files of a loaded skill: contained reading, slices, sections."""
