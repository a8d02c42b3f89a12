"""One rule, one file. The class is the rule's page."""
