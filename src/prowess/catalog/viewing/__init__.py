"""Who sees which skill: the audience, and the copies that are left out for it."""
