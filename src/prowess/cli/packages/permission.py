"""Permission for the changes of one command: the policy files, the audit log, and the person who typed the command."""

from __future__ import annotations

from prowess.distribution.permission.permission import CallRules, Permission


def permission_for(tool: str, scope: str) -> Permission:
    """Return the permission of a command for calls of `tool` (`packages.install`). Policy and log open when needed."""
    return Permission(tool, scope, _rules)


def _rules() -> CallRules:
    # Imported here because a command that changes nothing asks nobody.
    from prowess.audit.caller import Caller, login
    from prowess.cli.options.session_options import open_rules
    from prowess.tools.gates import TerminalApprover

    policy, audit = open_rules(None, "this change leaves no audit record")
    person = login() or Caller.here().uid
    return CallRules(policy=policy, audit=audit, approver=TerminalApprover(), typed_by=f"command:{person}")
