"""`prowess doctor`: reports the state of this machine and project, with the next step for each problem."""

from __future__ import annotations

import os
import platform
import stat
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Literal

import click
from msgspec import Struct
from msgspec.structs import asdict

from prowess._internal.places import audit_path, cache_home, ensure_private_directory, prowess_home
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import ViewerOptions, viewer_options
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.catalog import Catalog

_MOST_NAMES = 5
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


class _Line(Struct, frozen=True, kw_only=True):
    """The result of one check. `next` is the recommended next step; empty if no step is needed."""

    status: Literal["ok", "warn", "fail"]
    detail: str
    next: str = ""


@click.command()
@viewer_options
@json_option
def command(*, viewer: ViewerOptions, as_json: bool) -> int:
    """Report the state of this machine and project: ok, warn or fail, and the next step.

    Exits with 1 if a line fails.

    Example: prowess doctor
    """
    found = [(name, _looked(partial(look, viewer) if look in _OF_VIEWER else look)) for name, look in _LOOKS.items()]
    failed = any(line.status == "fail" for _, line in found)
    if as_json:
        output.document({"ok": not failed, "checks": [{"name": name, **asdict(line)} for name, line in found]})
    else:
        for name, line in found:
            mark = output.styled(f"{line.status:4}", _COLOURS[line.status])
            told = printable_line(f"{line.detail}{'; ' + line.next if line.next else ''}")
            output.raw(f"{mark}  {name:12}  {told}\n")
    return exit_codes.FAILED if failed else exit_codes.OK


def _looked(look: Callable[[], _Line]) -> _Line:
    try:
        return look()
    except (SkillError, OSError, ImportError) as fault:
        return _Line(status="fail", detail=str(fault))


def _python() -> _Line:
    return _Line(status="ok", detail=f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _yaml() -> _Line:
    # This and the imports below are inside functions, so that a broken installation is reported instead of raised.
    import yaml

    if yaml.__with_libyaml__:
        return _Line(status="ok", detail=f"PyYAML {yaml.__version__} with libyaml")
    return _Line(
        status="warn",
        detail=f"PyYAML {yaml.__version__} without libyaml: unusual front matter is read more slowly",
        next="install a PyYAML wheel, or libyaml before building it",
    )


def _sandbox() -> _Line:
    from prowess.execution import default_sandbox  # Imported here, not at the top: see _yaml.

    report = default_sandbox().probe()
    if report.available:
        return _Line(status="ok", detail=f"{report.backend} {report.version} at {report.program}")
    return _Line(status="fail", detail=f"{report.backend}: no script can be run", next=report.hint)


def _interpreters() -> _Line:
    from prowess.execution import INTERPRETERS  # Imported here, not at the top: see _yaml.

    missing = [rule for rule in INTERPRETERS if not any(os.access(path, os.X_OK) for path in rule.programs)]
    present = ", ".join(rule.name for rule in INTERPRETERS if rule not in missing)
    if not missing:
        return _Line(status="ok", detail=present)
    names = ", ".join(f"{rule.name} for {' '.join(rule.extensions)}" for rule in missing)
    packages = " ".join(rule.package for rule in missing)
    return _Line(status="warn", detail=f"{present}; missing: {names}", next=f"Debian: apt-get install {packages}")


def _home() -> _Line:
    home = prowess_home()
    try:
        ensure_private_directory(home)
    except OSError as fault:
        return _Line(
            status="warn",
            detail=f"{home} cannot be created ({_why(fault)}): no state is kept, and no call is audited",
            next="make it writable or set PROWESS_HOME",
        )
    if not os.access(home, os.W_OK | os.X_OK):
        return _Line(status="warn", detail=f"{home} cannot be written", next="make it writable or set PROWESS_HOME")
    if stat.S_IMODE(os.stat(home).st_mode) & 0o077:
        return _Line(status="warn", detail=f"{home} can be read by others", next=f"chmod 700 {home}")
    return _Line(status="ok", detail=f"{home} is writable and private")


def _cache() -> _Line:
    place = os.path.join(cache_home(), "stages")
    try:
        ensure_private_directory(place)
        with tempfile.TemporaryFile(dir=place):
            return _Line(status="ok", detail=f"{place} is writable")
    except OSError as fault:
        refused = f"{place} cannot be written ({_why(fault)})"
    try:
        with tempfile.TemporaryFile():
            detail = f"{refused}: skills are copied to {tempfile.gettempdir()} for each process that runs a script"
            return _Line(status="warn", detail=detail, next="make it writable or set PROWESS_HOME")
    except OSError:
        return _Line(status="fail", detail=f"{refused}: no script can be run", next="make it writable or set TMPDIR")


def _catalog(viewer: ViewerOptions | None = None) -> _Line:
    from prowess.catalog import Catalog  # Imported here, not at the top: see _yaml.

    catalog = Catalog.discover(**(viewer or ViewerOptions()).keywords())
    count = counted(len(catalog.entries()), "skill") + _under_policy(catalog)
    if held := [notice for notice in catalog.notices if "trust" in notice.code]:
        return _Line(status="warn", detail=count, next=held[0].message)
    if catalog.diagnostics:
        return _Line(
            status="warn",
            detail=f"{count}, {counted(len(catalog.diagnostics), 'finding')}",
            next="prowess list shows them",
        )
    return _Line(status="ok", detail=count)


def _under_policy(catalog: Catalog) -> str:
    """Return how many skills policy files and blocks deny or ask about; empty without any. Raises PolicyError."""
    from prowess.cli.policy_effects import PolicyEffects  # Imported here, not at the top: see _yaml.
    from prowess.policy.policy_in_force import load_policy

    policy = load_policy()
    if not policy.may_deny:
        return ""
    effects = PolicyEffects(catalog)
    names: dict[str, list[str]] = {"deny": [], "ask": [], "allow": []}
    for entry in catalog.entries():
        if (effect := effects.of(entry)) is not None:
            names[effect.effect].append(entry.name)
    shown = f" ({', '.join(names['deny'][:_MOST_NAMES])})" if names["deny"] else ""
    by = ", ".join([*(file.path for file in policy.files), *(file.path for file in policy.blocks.files)])
    return f", {len(names['deny'])} denied{shown}, {len(names['ask'])} asked about by {by}"


def _blocks() -> _Line:
    from prowess._internal.places import MACHINE_POLICY  # Imported here, not at the top: see _yaml.
    from prowess.policy.blocks.blocked import load_blocks

    found = load_blocks(MACHINE_POLICY)
    if found.is_empty:
        return _Line(status="ok", detail="nothing is blocked")
    counts = ", ".join(f"{counted(len(file.blocks), 'block')} in {file.path}" for file in found.files if file.blocks)
    return _Line(status="ok", detail=f"{counts} (prowess block --list)")


def _packages(viewer: ViewerOptions | None = None) -> _Line:
    from prowess.catalog import Catalog  # Imported here, not at the top: see _yaml.

    catalog = Catalog.discover(**(viewer or ViewerOptions()).keywords())
    found: dict[str, dict[str, None]] = {}
    for entry in catalog.all_entries():
        if (locked := entry.locked) is not None:
            found.setdefault(locked.lock, {})[f"{locked.shown} ({locked.signed})"] = None
    parts = []
    for lock, packages in found.items():
        more = f" and {len(packages) - _MOST_NAMES} more" if len(packages) > _MOST_NAMES else ""
        parts.append(f"{output.shown_path(lock)} has {', '.join([*packages][:_MOST_NAMES])}{more}")
    detail = "; ".join(parts) or "no skill is offered by a lock"
    if missing := [finding for finding in catalog.problems if finding.rule == "catalog.locked"]:
        return _Line(status="warn", detail=detail, next=missing[0].message)
    return _Line(status="ok", detail=detail)


def _trust() -> _Line:
    from prowess.catalog import TrustStore  # Imported here, not at the top: see _yaml.

    store = TrustStore()
    if store.problem is not None:
        return _Line(status="fail", detail=store.problem, next=f"repair or remove {store.path}, then trust again")
    return _Line(status="ok", detail=counted(len(store.listed()), "trusted project"))


def _audit() -> _Line:
    path = audit_path()
    if not os.path.exists(path):
        return _Line(status="ok", detail="no records yet")
    from prowess.audit.verification import verify_log  # Imported here, not at the top: see _yaml.

    verified = verify_log(path)
    if verified.ok:
        return _Line(status="ok", detail=f"{counted(verified.records, 'record')}, chain unbroken")
    faults = counted(len(verified.faults), "fault")
    return _Line(status="fail", detail=f"{path}: {faults}", next="prowess audit verify")


def _machine() -> _Line:
    # Imported here, not at the top: see _yaml.
    from prowess.cli.commands.machine import audit_fault
    from prowess.policy.policy_in_force import PolicyInForce

    policy = PolicyInForce().now()
    if policy.fault is not None:
        return _Line(status="fail", detail=f"every call is refused: {policy.fault}", next="prowess machine status")
    if policy.audit_sink == "file":
        return _Line(status="ok", detail="records go to the log of each session")
    if (reason := audit_fault()) is not None:
        return _Line(status="fail", detail=f"every call is refused, because it must be recorded: {reason}")
    return _Line(status="ok", detail="records go to the log of this machine")


def _why(fault: OSError) -> str:
    if isinstance(fault, FileExistsError | NotADirectoryError):
        return "a file with this name exists"
    return fault.strerror or str(fault)


_OF_VIEWER = (_catalog, _packages)
_IN_ORDER = (
    _python,
    _yaml,
    _sandbox,
    _interpreters,
    _home,
    _cache,
    _catalog,
    _blocks,
    _packages,
    _trust,
    _audit,
    _machine,
)
_LOOKS: dict[str, Callable[[], _Line]] = {look.__name__.removeprefix("_"): look for look in _IN_ORDER}
