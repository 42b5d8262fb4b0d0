"""The report: a static site made from a store, with nothing fetched from elsewhere."""
