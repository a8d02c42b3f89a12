"""How skills are used outside of evals: feedback of people, and the sessions of agent hosts."""
