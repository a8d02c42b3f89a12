"""Signed notes: the published examples verify, and what was changed does not."""

from __future__ import annotations

import pytest

from prowess.errors import SignatureError
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import cosign_note, note_key, read_note, read_note_key, sign_note, verified_by

# The example of C2SP signed-note.
KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
NOTE = """This is an example message.

\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
"""
OWN = new_private_key("ed25519")


def test_the_published_example_verifies() -> None:
    note, key = read_note(NOTE), read_note_key(KEY)
    assert verified_by(note, key) == 0
    assert (str(note), str(key)) == (NOTE, KEY)


def test_a_changed_text_refuses_the_note() -> None:
    with pytest.raises(SignatureError, match="one of the two was changed"):
        verified_by(read_note(NOTE.replace("an example", "another")), read_note_key(KEY))


def test_signatures_of_unknown_keys_are_ignored() -> None:
    note = read_note(NOTE)
    assert verified_by(note, note_key("example.com/foo", OWN.public)) is None
    assert verified_by(note, note_key("example.com/bar", OWN.public)) is None


def test_a_cosignature_covers_text_and_time_and_keeps_the_other_signatures() -> None:
    witness = note_key("w.example", OWN.public, "cosignature")
    cosigned = cosign_note(read_note(NOTE), "w.example", OWN, 1_700_000_000)
    again = cosign_note(cosigned, "w.example", OWN, 1_700_000_001)
    assert verified_by(read_note(str(again)), witness) == 1_700_000_001
    assert verified_by(again, read_note_key(KEY)) == 0
    assert len(again.signatures) == 2
    assert verified_by(cosigned, note_key("w.example", OWN.public)) is None  # as a plain signature it is unknown
    early, late = str(cosigned).rsplit(" ", 1)[1][:16], str(again).rsplit(" ", 1)[1][:16]
    with pytest.raises(SignatureError):
        verified_by(read_note(str(again).replace(late, early)), witness)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text\n",
        "text\n\n",
        "text\n\n- example.com/foo AAAAAAAA\n",
        "text\n\n\u2014 example.com/foo AAAAAAAA",
        "text\n\n\u2014 example.com/foo AAAA\n",
        "text\n\n\u2014 example.com/foo AAAAAAAA AAAA\n",
        "text\n\n\u2014  AAAAAAAA\n",
        "text\n\n\u2014 a+b AAAAAAAA\n",
        "te\txt\n\n\u2014 a AAAAAAAA\n",
        "text\r\n\n\u2014 a AAAAAAAA\n",
        "text\n\n\u2014 a AAAAAAAB=\n",
        NOTE + "\n",
        "text\n\n" + "\u2014 a AAAAAAAA\n" * 65,
    ],
)
def test_what_is_no_note_is_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        read_note(text)


@pytest.mark.parametrize(
    "text",
    ["", "a+b", KEY.replace("530d903a", "530d903b"), KEY.replace("+Aek", "+Auk"), KEY[:-4], KEY.replace("foo", "f oo")],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        read_note_key(text)


def test_names_and_kinds_of_keys_that_notes_cannot_have_are_refused() -> None:
    for name in ("", "a b", "a+b", "a\u2003b", "a\n"):
        with pytest.raises(SignatureError):
            sign_note("x\n", name, OWN)
    with pytest.raises(SignatureError, match="ed25519"):
        sign_note("x\n", "a", new_private_key("p256"))
    with pytest.raises(SignatureError):
        sign_note("x", "a", OWN)
