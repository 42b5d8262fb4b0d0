"""From a paper to methods, tables, templates and a data manifest."""
