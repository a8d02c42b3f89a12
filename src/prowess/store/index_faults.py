"""Reasons why an index file is not used. They are no errors for a user: the catalog reads the skills instead."""

from __future__ import annotations


class UnusableIndexError(Exception):
    """The index file cannot be used; the message gives the reason."""


class MissingIndexError(UnusableIndexError):
    """There is no index file."""

    def __str__(self) -> str:
        return "there is no index yet"


class BusyIndexError(UnusableIndexError):
    """Another process writes the index file, or has changed it since it was read here."""

    def __str__(self) -> str:
        return "another process is writing the index"
