"""The corpus: from written sources to records, from data packages to files, and their checks."""
