"""Codex: `codex exec --json`."""

from __future__ import annotations

import json

from prowess.evals.hosts.host_program import HostCommand, HostInvocation, HostProgram


def _command(invocation: HostInvocation) -> HostCommand:
    arguments = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"]
    return HostCommand(
        arguments=tuple(arguments),
        stdin=invocation.prompt,
        environment={**invocation.credentials, "CODEX_HOME": f"{invocation.home}/.codex"},
        files={".codex/config.toml": _configuration(invocation)},
    )


def _configuration(invocation: HostInvocation) -> str:
    lines = [] if invocation.model is None else [f"model = {json.dumps(invocation.model)}"]
    lines += [
        *('model_provider = "gateway"', "check_for_update_on_startup = false", "[analytics]", "enabled = false"),
        *("[model_providers.gateway]", 'name = "gateway"', f"base_url = {json.dumps(invocation.provider + '/v1')}"),
        *('wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', "supports_websockets = false"),
    ]
    return "\n".join([*lines, ""])


CODEX = HostProgram(
    name="codex",
    agent="codex",
    program="codex",
    package="@openai/codex",
    skills=".agents/skills",
    project_skills=".agents/skills",
    sessions=(".codex/sessions/*/*/*/*.jsonl",),
    upstream="https://api.openai.com",
    provider="openai",
    upstream_variable="OPENAI_BASE_URL",
    credentials=("OPENAI_API_KEY",),
    command=_command,
    judges_session=True,
)
