"""Frozen records of papers, tables, cells, methods, runs and grades."""
