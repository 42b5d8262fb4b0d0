"""Everything that runs: command line, workspaces, jail, arms, store, report."""
