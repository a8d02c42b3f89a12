"""Memos of a scan: what reading and listing gave, kept in memory and on disk, so that it need not be read again."""
