"""Which directories are on network file systems, whose changes by other machines the system does not notify of.

Source: proc(5), `/proc/pid/mountinfo`. On systems without this file no directory counts as one on a network.
"""

from __future__ import annotations

from prowess._internal.files.ancestors import ancestor_in

NETWORK_TYPES = frozenset(
    {
        *("9p", "acfs", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "drvfs", "gfs2", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    }
)
_MOUNTS = "/proc/self/mountinfo"
_PLACE = 4  # field of the mount point; fields are separated by blanks


def network_mounts() -> dict[str, str | None]:
    """Return every mount point of this process with the type of its network file system, None for a local one.

    A file system of FUSE counts as one on a network, because its contents may change without this system. The result is
    empty if no mount is on a network, or the mounts are not known.
    """
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    mounts: dict[str, str | None] = {}
    for line in lines:
        before, _, after = line.partition(" - ")  # the fields before it vary in number
        fields, kind = before.split(" "), after.partition(" ")[0]
        if len(fields) > _PLACE and kind:
            is_remote = kind in NETWORK_TYPES or kind == "fuse" or kind.startswith("fuse.")
            mounts[_unescaped(fields[_PLACE])] = kind if is_remote else None  # a later mount covers an earlier one
    return mounts if any(mounts.values()) else {}


def network_type(path: str, mounts: dict[str, str | None]) -> str | None:
    """Return the type of the network file system of the real path `path`, or None."""
    mount = ancestor_in(path, mounts)
    return None if mount is None else mounts[mount]


def _unescaped(text: str) -> str:
    """Return a mount point without its escapes: the kernel writes four characters as a backslash and octal digits."""
    for character in " \t\n\\":
        text = text.replace(f"\\{ord(character):03o}", character)
    return text
