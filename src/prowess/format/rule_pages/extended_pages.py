"""Pages of the rules on fields beyond the specification."""

from __future__ import annotations

from prowess.format.rule_pages.page import Page

PAGES = {
    "model.type": Page(
        what="Looks whether model is a text.",
        why="Anything else is no name of a model.",
        example="`model: [a]`",
        instead="`model: inherit`",
    ),
    "context.value": Page(
        what="Compares context with the two words that are known.",
        why="A word that is not known decides nothing.",
        example="`context: forked`",
        instead="`context: fork`",
    ),
    "agent.type": Page(
        what="Looks whether agent is a text.",
        why="Anything else is no name of an agent.",
        example="`agent: {a: b}`",
        instead="`agent: Explore`",
    ),
    "agent.needsFork": Page(
        what="Looks for `agent` without `context: fork`.",
        why="An agent has its own context; without it the field does nothing.",
        example="`agent: Explore`",
        instead="`context: fork` beside it",
    ),
    "hooks.type": Page(
        what="Looks whether each hook names a script or a command.",
        why="A hook that cannot be read never runs.",
        example="`hooks: {pre: 3}`",
        instead="`hooks: {pre: scripts/check.sh}`",
    ),
    "hooks.event": Page(
        what="Compares each key of hooks with the events that are known.",
        why="A hook on an event that never happens never runs.",
        example="`hooks: {PreTool: ...}`",
        instead="`hooks: {PreToolUse: ...}`",
    ),
    "hooks.path": Page(
        what="Looks whether the script of a hook lies inside the skill.",
        why="A hook runs by itself; what it runs must come with the skill.",
        example="`script: ../../run.sh`",
        instead="`script: scripts/run.sh`",
    ),
    "hooks.value": Page(
        what="Reads the settings of each hook.",
        why="A setting that is misread changes when the hook runs.",
        example="`timeout: soon`",
        instead="`timeout: 10`",
    ),
    "scope.type": Page(
        what="Reads who a skill is for.",
        why="A scope that cannot be read closes the skill to everyone.",
        example="`scope: everyone`",
        instead="`scope: {agents: [reviewer]}`",
    ),
    "execution.type": Page(
        what="Reads what a skill wishes of its runs.",
        why="A wish that cannot be read is not granted.",
        example="`execution: fast`",
        instead="`execution: {timeout: 30}`",
    ),
    "priority.type": Page(
        what="Looks for a whole number.",
        why="Skills are ordered by it.",
        example="`priority: high`",
        instead="`priority: 10`",
    ),
    "tags.type": Page(
        what="Looks for a list of short texts.",
        why="Skills are filtered by them.",
        example="`tags: {a: b}`",
        instead="`tags: [pdf, tables]`",
    ),
    "invocation.type": Page(
        what="Looks whether the switches on invocation are true or false.",
        why="A switch that is misread opens a skill that was meant to be closed.",
        example="`disable-model-invocation: maybe`",
        instead="`disable-model-invocation: true`",
    ),
    "arguments.type": Page(
        what="Looks for a list of names.",
        why="Placeholders in the body are filled in by these names.",
        example="`arguments: {a: 1}`",
        instead="`arguments: [file]`",
    ),
    "argument-hint.type": Page(
        what="Looks whether it is a text.",
        why="It is shown to the user as it is.",
        example="`argument-hint: {a: b}`",
        instead='`argument-hint: "[file]"`',
    ),
    "paths.type": Page(
        what="Looks for a list of patterns.",
        why="The skill is offered for files that fit.",
        example="`paths: {a: b}`",
        instead='`paths: ["*.pdf"]`',
    ),
}
