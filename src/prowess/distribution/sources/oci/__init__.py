"""Container registries and OCI image layouts: skills as OCI artifacts."""
