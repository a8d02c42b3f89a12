"""Shared by all pages: requests and answers, templates, navigation, errors, forms and static files."""
