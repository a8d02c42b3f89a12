"""An enrolled machine and the server of its organisation: the bundle, records and reports that go between them."""
