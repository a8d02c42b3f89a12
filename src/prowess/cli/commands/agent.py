"""`prowess agent`: a model carries out one task with the skills found here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.agent import (
    Agent,
    CallFinished,
    CallStarted,
    LocalModel,
    Said,
    ScriptedModel,
    SkillActivated,
    SkillActivating,
    model_named,
)
from prowess.agent.local import WEAKNESS
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import open_rules, open_workspace, profile_option, workspace_options
from prowess.cli.options.tool_options import tools_named
from prowess.cli.signals import ended_in_order
from prowess.errors import ApprovalRequiredError, InvalidArgumentsError
from prowess.tools.builtin import builtin_tools
from prowess.tools.gates import TerminalApprover

if TYPE_CHECKING:
    from prowess.agent import AgentResult, AgentStep, Model

_SCRIPTED = "scripted:"
_NO_MODEL = (
    "no model is given; use --model provider:name, for example anthropic:claude-sonnet-4-5 "
    "(it needs pip install 'prowess[agent]'), --model local:smollm2-135m (weak, but without network: "
    "pip install 'prowess[local]'), or --model scripted:FILE"
)


@click.command()
@click.argument("task")
@catalog_options
@workspace_options
@click.option("--model", "model_name", help="Model to use: provider:name, local:smollm2-135m or scripted:FILE.")
@click.option(
    "--tools",
    default="read,glob,grep",
    help="Tools for the workspace: read, glob, grep (default), write, edit, bash. The last three need approval.",
)
@click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="Additional policy file. It can only tighten the policies of this machine and user.",
)
@profile_option
@click.option(
    "--max-turns", type=click.IntRange(min=1), default=50, help="Maximum number of model calls; defaults to 50."
)
@click.option("--transcript", type=click.Path(dir_okay=False), help="Write all messages to this new file.")
@click.option(
    "--skills-dir",
    type=click.Path(file_okay=False),
    help="Let the agent write new skills here, each after your approval.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
def command(
    *,
    task: str,
    skills: CatalogOptions,
    workspace: str | None,
    write: bool,
    model_name: str | None,
    tools: str,
    policy_file: str | None,
    profile: str | None,
    max_turns: int,
    transcript: str | None,
    skills_dir: str | None,
    as_json: bool,
) -> int:
    """Carry out TASK with a model and the skills that match it.

    Approvals are asked for on the terminal. Without a terminal they are denied.

    \b
    Example:
      prowess agent "Sum up march.csv" --model anthropic:claude-sonnet-4-5
    """  # noqa: D301 -- click needs the control character
    if not task.strip():
        raise click.UsageError("TASK is empty; describe the task")
    named = tools_named(tools)
    try:
        model = _model(model_name)
    except InvalidArgumentsError as fault:
        output.error(str(fault))
        return exit_codes.USAGE
    if isinstance(model, LocalModel) and not skills.quiet:
        output.note(WEAKNESS)
    catalog = skills.open(asks=not as_json)
    chosen = open_workspace(workspace, quiet=skills.quiet)
    live = not as_json and sys.stdout.isatty()
    policy, audit = open_rules(policy_file, "this run leaves no audit record")
    agent = Agent(
        model,
        catalog=catalog,
        max_turns=max_turns,
        approver=TerminalApprover(),
        on_event=lambda step: _show(step, live=live, quiet=skills.quiet),
        project=chosen,
        skills_dir=skills_dir,
        workspace=chosen,
        write=write,
        policy=policy,
        profile=profile,
        extra_tools=() if chosen is None else builtin_tools(named, workspace=chosen, write=write),
        audit=audit,
    )
    with ended_in_order():
        result = agent.run_sync(task, transcript=transcript)
    _print(result, live=live, as_json=as_json)
    return exit_codes.OK if result.answered else exit_codes.FAILED


def _model(name: str | None) -> Model:
    if name is None:
        raise InvalidArgumentsError((_NO_MODEL,))
    if name.startswith(_SCRIPTED):
        return ScriptedModel.from_file(name.removeprefix(_SCRIPTED))
    return model_named(name)


def _show(step: AgentStep, *, live: bool, quiet: bool) -> None:
    """Print text on a terminal as it arrives, and report steps on standard error."""
    match step:
        case Said(text=text):
            if live:
                output.raw(printable(text))
        case SkillActivating(message=message) if not quiet:
            output.note(printable_line(message))
        case SkillActivated(skill=skill, allowed_tools=tools) if not quiet:
            limits = "" if tools is None else f"; while it is active, tools are limited to {' '.join(tools) or 'none'}"
            output.note(f"skill {skill}{limits}")
        case CallStarted(call=call) if not quiet:
            if live:
                output.line()
            output.note(f"calls {printable_line(call.name)}")
        case CallFinished(call=call, result=result) if not quiet and not result.success:
            waits = isinstance(result.cause, ApprovalRequiredError)
            output.note(f"{printable_line(call.name)} {'was not run' if waits else 'failed'}: {result.error}")


def _print(result: AgentResult, *, live: bool, as_json: bool) -> None:
    if as_json:
        output.document(result.as_dict())
    elif live:
        output.line()
    elif result.text:
        output.line(result.text)
    if not result.answered:
        output.error(f"ended without an answer: {result.reason}")
