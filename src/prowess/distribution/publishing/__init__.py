"""Packs, signs and publishes skills to directories and registries."""
