"""From a paper to methods, tables, templates and a data manifest."""

from extract.blinding import blind, result_leaks

__all__ = ["blind", "result_leaks"]
