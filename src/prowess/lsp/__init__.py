"""The language server: what `prowess check` says of a SKILL.md, in an editor, while it is written.

An open buffer is judged as it stands in the editor, beside the files that lie around it on disk. Nothing of a skill is
executed, nothing is written: every change is offered to the editor, which applies it or does not.
"""
