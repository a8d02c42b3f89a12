"""What a command may reach: the registries of the setting `registries`, and the hosts that its options allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.cli.options.configuration_options import open_configuration
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError, InvalidArgumentsError
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from prowess.lockfile.source_reference import SourceReference


def configured_registries() -> tuple[SourceReference, ...]:
    """Return the registries in the order of the setting.

    Raises:
        ConfigurationError: the settings cannot be read.
        DistributionError: an entry is no source.
    """
    value = open_configuration(config_file=None, isolated=False, quiet=True).value("registries")
    try:
        return tuple(parse_reference(text) for text in cast("tuple[str, ...]", value.value))
    except InvalidArgumentsError as fault:
        raise DistributionError(f"the setting registries ({value.origin}): {fault}") from None


def resolving_access(allowed_hosts: tuple[str, ...], *, offline: bool = False) -> Access:
    """Return the access of a command that chooses versions. Raises as `configured_registries`."""
    return Access(offline=offline, redirect_hosts=allowed_hosts, registries=tuple(map(str, configured_registries())))
