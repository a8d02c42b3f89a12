"""Keys, signatures and publishers. Pure: bytes in, statements about signers out."""
