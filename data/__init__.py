"""What every stage speaks of: records, ports, the bundled corpus and the store."""
