"""Why a graded cell differs, and whose fault it is."""
