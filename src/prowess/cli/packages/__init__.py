"""Parts of the commands that install, check and publish skills."""
