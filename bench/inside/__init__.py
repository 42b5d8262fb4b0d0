"""The little that enters a jail: standard library only, no path to a published value."""
