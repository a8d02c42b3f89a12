"""Puts verified skills into the store and keeps locks, targets and earlier states."""
