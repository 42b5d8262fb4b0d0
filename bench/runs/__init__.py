"""Runs: from a leaderboard's file to a plan, and from the plan to run directories on disk."""
