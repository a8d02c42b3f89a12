"""What an enrolled machine keeps: the settings about it in policy files, and the bundle of its organisation."""
