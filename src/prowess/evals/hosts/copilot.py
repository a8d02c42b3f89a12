"""Copilot CLI: `copilot -p` with its JSON output, and a provider of the user's own instead of GitHub's."""

from __future__ import annotations

from prowess.evals.hosts.host_program import HostCommand, HostInvocation, HostProgram


def _command(invocation: HostInvocation) -> HostCommand:
    arguments = (f"--prompt={invocation.prompt}", "--output-format", "json", "--allow-all-tools", "--allow-all-paths")
    environment = {
        **{name: key for name, key in invocation.credentials.items() if name.startswith("COPILOT_")},
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{invocation.provider}/v1",
        "COPILOT_MODEL": invocation.model or "",
        "COPILOT_AUTO_UPDATE": "false",
    }
    if "OPENAI_API_KEY" in invocation.credentials:
        environment.setdefault("COPILOT_PROVIDER_API_KEY", invocation.credentials["OPENAI_API_KEY"])
    return HostCommand(arguments=arguments, environment=environment)


COPILOT = HostProgram(
    name="copilot",
    agent="github-copilot",
    program="copilot",
    package="@github/copilot",
    skills=".copilot/skills",
    project_skills=".github/skills",
    sessions=(".copilot/session-state/*/events.jsonl",),
    upstream="https://api.openai.com",
    provider="openai",
    upstream_variable="COPILOT_PROVIDER_BASE_URL",
    credentials=("COPILOT_PROVIDER_API_KEY", "OPENAI_API_KEY"),
    command=_command,
    needs_model=True,
)
