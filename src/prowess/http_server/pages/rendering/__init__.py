"""What all pages share: requests and answers, templates, navigation, errors, forms and static files."""
