"""Permission for the changes of one command: the policy files, the audit log, and the person who typed the command."""

from __future__ import annotations

import errno
import os
from functools import partial

from prowess.distribution.permission.facts import CallRules
from prowess.distribution.permission.permission import Permission


def permission_for(tool: str, scope: str, policy_file: str | None = None) -> Permission:
    """Return the permission of a command for calls of `tool` (`packages.install`). Policy and log open when needed.

    `policy_file` is the additional file of a command that takes one.
    """
    return Permission(tool, scope, partial(_rules, policy_file))


def _rules(policy_file: str | None) -> CallRules:
    """Return the rules. A change of packages needs a home that can be written, so there is always a log.

    Raises:
        StoreError: the home cannot be used.
        PolicyError: a policy file cannot be read.
    """
    # Imported here because a command without changes asks no question.
    from prowess._internal.places import ensure_private_directory, prowess_home
    from prowess._internal.process_user import login
    from prowess.audit.caller import Caller
    from prowess.cli.options.session_options import audit_log
    from prowess.distribution.installation.disk.staging import nothing_changed
    from prowess.policy.policy_in_force import PolicyInForce
    from prowess.tools.gates import TerminalApprover

    home = prowess_home()
    with nothing_changed(home):
        ensure_private_directory(home)
        if not os.access(home, os.W_OK):
            is_read_only = hasattr(os, "statvfs") and os.statvfs(home).f_flag & os.ST_RDONLY
            code = errno.EROFS if is_read_only else errno.EACCES
            raise OSError(code, os.strerror(code), home)
    policy = PolicyInForce(policy_file=policy_file)
    policy.require()
    person = login() or Caller.here().uid
    return CallRules(policy=policy, audit=audit_log(home), approver=TerminalApprover(), typed_by=f"command:{person}")
