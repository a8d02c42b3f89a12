"""Other libraries' interfaces over our parser, so that a program can change sides without being rewritten."""
