"""Mechanics without domain words. Nothing here knows what a skill is."""
