"""Checkpoints in the form of C2SP tlog-checkpoint."""

from __future__ import annotations

import pytest

from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint, signed_checkpoint
from prowess.errors import SignatureError
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key, read_note_key, verified_by

# The example of C2SP tlog-checkpoint and tlog-cosignature. Its signature is the one of the checksum database of Go,
# whose origin the example replaces; so the signature verifies over the text with the original origin and name.
EXAMPLE = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
"""  # noqa: E501 -- lines of the format
GO = read_note_key("sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8")


def test_the_published_example_is_read_and_verifies() -> None:
    example = read_checkpoint(EXAMPLE)
    assert (example.origin, example.size, str(example)) == ("example.com/behind-the-sofa", 20852163, EXAMPLE)
    assert example.root.hex() == "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62"
    original = EXAMPLE.replace("example.com/behind-the-sofa\n", "go.sum database tree\n", 1)
    original = original.replace("\u2014 example.com/behind-the-sofa", "\u2014 sum.golang.org")
    assert verified_by(read_checkpoint(original).note, GO) == 0
    with pytest.raises(SignatureError):
        verified_by(read_checkpoint(original.replace("20852163", "20852164")).note, GO)


def test_one_key_signs_for_its_name_and_below_it() -> None:
    key = new_private_key("ed25519")
    for origin, fits in (("acme", True), ("acme/eu", True), ("acme2", False), ("other", False)):
        signed = signed_checkpoint(origin, 3, bytes(32), "acme", key)
        assert is_signed(signed, note_key("acme", key.public)) == fits
        assert not is_signed(signed, note_key("acme", new_private_key("ed25519").public))


@pytest.mark.parametrize(
    "text", ["a\n1\n", "a\n01\nAAAA\n", "a\n-1\nAAAA\n", "a\n1\nAAAA\n", "a\n\u0661\nAAAA\n", "\n1\n"]
)
def test_a_note_without_the_three_lines_is_no_checkpoint(text: str) -> None:
    with pytest.raises(SignatureError):
        read_checkpoint(f"{text}\n\u2014 a AAAAAAAA\n")
