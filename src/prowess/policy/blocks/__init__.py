"""Blocked skills: the file of blocks, and the lookup that denies calls about blocked skills."""
