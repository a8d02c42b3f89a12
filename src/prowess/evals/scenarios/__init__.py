"""Test scenarios without a model: planning, doubles, assertions, reports."""
