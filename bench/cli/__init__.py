"""The command line `bench`."""
