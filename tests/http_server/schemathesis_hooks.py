"""Values of the formats that JSON Schema does not know (docs/reference/http-api.md). schemathesis imports this file."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

_WORD = st.from_regex(r"\A[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?\Z")
_POLICIES = ("", 'default = "allow"\n', '[[rule]]\neffect = "deny"\ntool = "skills.run_script"\n', "# nothing\n")

schemathesis.openapi.format("prowess-policy", st.sampled_from(_POLICIES))
schemathesis.openapi.format("prowess-line", _WORD)
schemathesis.openapi.format("prowess-name", _WORD)
schemathesis.openapi.format("prowess-source", _WORD)
schemathesis.openapi.format("prowess-publisher", st.from_regex(r"\Akey sha256:[0-9a-f]{64}\Z"))
