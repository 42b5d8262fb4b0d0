"""The store: one DuckDB file a leaderboard, made from run directories, rebuilt at will."""
