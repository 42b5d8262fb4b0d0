"""Findings about a finished run."""
