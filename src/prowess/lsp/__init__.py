"""The language server: shows the findings of `prowess check` in an editor while a SKILL.md is written.

An open buffer is checked with its unsaved text, together with the skill's other files on disk. The server executes no
code of a skill and writes no file: every change is offered to the editor, which applies it.
"""
