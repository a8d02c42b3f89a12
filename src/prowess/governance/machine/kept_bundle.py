"""The bundle that a machine keeps, which only root can change.

    STATE/bundle           -> bundles/N, the one moment of change
    STATE/bundles/N/       the files of version N, the signed bundle, and `expires`, whose time of change is the expiry
    STATE/confirmed        its time of change is when the organisation last confirmed the bundle

Everything is verified here. Other processes trust the files because root owns them, and compare them with the signed
bundle without a look at its signature.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.enrolment import changed_files
from prowess._internal.places import CONFIRMED_NAME, EXPIRES_FILE, SIGNED_BUNDLE, is_named_policy
from prowess.errors import SignatureError
from prowess.governance.machine.bundle import read_bundle
from prowess.policy.approvals.statements import read_statements
from prowess.policy.blocks.block_file import read_block_file
from prowess.policy.policy_file import read_policy_file

if TYPE_CHECKING:
    from prowess.governance.machine.bundle import Bundle
    from prowess.signing.signed_note import NoteKey

_FILE, _DIRECTORY = 0o644, 0o755


class KeptBundle:
    """The bundle in the directory `state` of a machine of `tenant`, whose organisation has `key`."""

    def __init__(self, state: str, key: NoteKey, tenant: str | None = None) -> None:
        self._state, self._key, self._tenant = os.path.abspath(state), key, tenant
        self._link = os.path.join(self._state, "bundle")
        self._folders = os.path.join(self._state, "bundles")

    def present(self) -> Bundle | None:
        """Return the bundle that is kept, verified again; None if there is none.

        Raises:
            SignatureError: the file was changed.
        """
        try:
            with open(os.path.join(self._link, SIGNED_BUNDLE), "rb") as file:
                return read_bundle(file.read(), self._key)
        except FileNotFoundError:
            return None

    def take(self, data: bytes, *, anew: bool = False) -> tuple[Bundle, bool]:
        """Verify a bundle, and make it the present one. Return it, and whether it is new.

        With `anew`, the one that is kept does not matter: root enrolls the machine.

        Raises:
            SignatureError: it must not be used; the kept one stays.
            PolicyError: one of its files is not valid; the kept one stays.
            OSError: it cannot be written.
        """
        bundle, known = read_bundle(data, self._key), None if anew else self.present()
        if self._tenant is not None and bundle.tenant != self._tenant:
            raise SignatureError("the bundle", f"it is for tenant {bundle.tenant}, not for {self._tenant}")
        if bundle.expires <= time.time():
            raise SignatureError("the bundle", "it has expired; is the clock of this machine right?")
        if known is not None and bundle.version < known.version:
            reason = f"it is version {bundle.version}, older than version {known.version} that this machine has"
            raise SignatureError("the bundle", f"{reason}; if a backup was restored, enroll the machine again")
        if known is not None and bundle.version == known.version:
            if bundle != known:
                raise SignatureError("the bundle", f"there are two different versions {bundle.version}")
            return bundle, False
        self._write(bundle, data)
        return bundle, True

    def restore(self, bundle: Bundle) -> list[str]:
        """Write the files of the present bundle again if somebody changed them. Return their names. Raises OSError."""
        changed = changed_files(self._link)
        for name in changed:
            path = os.path.join(self._link, name)
            if name in bundle.files:
                write_atomically(path, bundle.files[name].encode(), _FILE)
            elif os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        return changed

    def confirm(self) -> None:
        """Record that the organisation confirmed the present bundle just now."""
        path = os.path.join(self._state, CONFIRMED_NAME)
        if os.path.exists(path):
            os.utime(path)
        else:
            write_atomically(path, b"", _FILE, sync=False)

    def _write(self, bundle: Bundle, data: bytes) -> None:
        _make_readable(self._state)
        _make_readable(self._folders)
        folder = os.path.join(self._folders, str(bundle.version))
        draft = f"{folder}.draft"
        for leftover in (draft, f"{self._link}.draft"):  # of a service that was killed
            if os.path.islink(leftover):
                os.unlink(leftover)
            elif os.path.isdir(leftover):
                shutil.rmtree(leftover)
        os.mkdir(draft)
        os.chmod(draft, _DIRECTORY)
        for name, text in bundle.files.items():
            write_atomically(os.path.join(draft, name), text.encode(), _FILE)
        _require_valid(draft)
        write_atomically(os.path.join(draft, EXPIRES_FILE), b"", _FILE)
        os.utime(os.path.join(draft, EXPIRES_FILE), (bundle.expires, bundle.expires))
        write_atomically(os.path.join(draft, SIGNED_BUNDLE), data, _FILE)
        if os.path.isdir(folder):  # the link was not turned to it
            shutil.rmtree(folder)
        os.rename(draft, folder)
        before = os.path.basename(os.readlink(self._link)) if os.path.islink(self._link) else None
        os.symlink(os.path.join("bundles", str(bundle.version)), f"{self._link}.draft")
        os.replace(f"{self._link}.draft", self._link)
        for name in os.listdir(self._folders):
            # A session may be reading the version before this one.
            if name not in (str(bundle.version), before):
                shutil.rmtree(os.path.join(self._folders, name))


def _make_readable(directory: str) -> None:
    os.makedirs(directory, exist_ok=True)
    os.chmod(directory, _DIRECTORY)


def _require_valid(folder: str) -> None:
    """Raise PolicyError if a file is not valid, so that a mistake of the organisation does not stop its machines."""
    for name in sorted(os.listdir(folder)):
        if name == "policy.toml" or is_named_policy(name):
            read_policy_file(os.path.join(folder, name))
    read_block_file(os.path.join(folder, "blocks.json"), is_machine=False)
    read_statements(os.path.join(folder, "approvals.json"), is_machine=False)
