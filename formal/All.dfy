// Everything, for the compiler.

include "AgentSkills.dfy"
include "GF3.dfy"
include "Layers.dfy"
include "Activation.dfy"
include "Escaping.dfy"
