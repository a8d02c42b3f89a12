"""Files on disk: stages, the store, exchange of directories, and copies of trees."""
