"""Parts of `prowess admin` that need more than the store."""
