"""One activation from the shell, under the rules of a session: policy, trust, scope, hooks, digests and the audit log.

The skill is invoked as by a user. If users may not invoke the skill, it is loaded as by a model.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.options.session_options import open_rules
from prowess.cli.signals import ended_in_order
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime import SyncSession
from prowess.runtime.activation.rendering import rendered
from prowess.tools.gates import TerminalApprover

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.catalog import Catalog
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.substitution import FirstArgument


@contextmanager
def activated(
    catalog: Catalog, name: str, args: str | None = None, *, policy_file: str | None = None, scripts: bool = True
) -> Iterator[tuple[SyncSession, tuple[Notice, ...]]]:
    """Open a session in which the skill is active; yield the session and the notices of the activation.

    The session and the activation end with the block. With `scripts=False`, nothing of the skill is run.

    Raises:
        AuditError: the policy requires an audit record, and no log can be written.
        SkillError: the session refused to activate the skill.
    """
    policy, audit = open_rules(policy_file, "this activation leaves no audit record")
    with (
        ended_in_order(),
        SyncSession(catalog, audit=audit, policy=policy, approver=TerminalApprover(), scripts=scripts) as session,
    ):
        if args is None and not extended_fields(catalog.get(name).properties).user_invocable:
            notices = session.load([name]).notices
        else:
            notices = session.invoke(name, args).notices
        yield session, notices


def print_instructions(
    catalog: Catalog,
    session: SyncSession,
    notices: Sequence[Notice],
    *,
    first_argument: FirstArgument,
    as_json: bool,
    quiet: bool,
    expose_location: bool = True,
) -> None:
    """Print the instructions of the one active skill, or with `as_json` a document with its properties and files."""
    (active,) = session.active_skills
    skill = catalog.skill(active.name, active.location)
    body = rendered(
        active, skill.body, session.session_id, expose_location=expose_location, first_argument=first_argument
    )
    if as_json:
        output.document(
            {
                "name": skill.name,
                "location": skill.location if expose_location else None,
                "root_dir": skill.root_dir if expose_location else None,
                "digest": skill.digest,
                "document_digest": skill.document_digest,
                "properties": skill.frontmatter.properties(),
                "body": body.text,
                "substitutions": body.substitutions.as_dict(),
                "notices": [notice.as_dict() for notice in notices],
                "resources": [
                    {"path": file.path, "kind": file.kind, "size": file.size, "executable": file.executable}
                    for file in skill.resources
                ],
            }
        )
        return
    for notice in () if quiet else notices:
        output.note(printable_line(notice.message))
    output.foreign(f"{body.text}\n" if sys.stdout.isatty() else body.text)
