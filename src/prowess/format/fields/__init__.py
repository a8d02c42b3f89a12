"""Values of front matter fields: readers that report each fault with its place, and the types they return."""
