"""Watching a catalog: waits until skills are added, changed or removed on disk.

The notifications of the operating system only say when to look. Every answer comes from a look at the catalog itself,
so a lost or superfluous notification delays a change but never hides or invents one. If the system cannot notify, the
catalog is looked at periodically, and a notice gives the reason.
"""
