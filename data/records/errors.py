"""Errors that a user can mend: each prints as one line and ends a command with exit code 2."""

from __future__ import annotations

__all__ = ["BlindbenchError", "InfrastructureError", "RecordError", "UserError"]


class BlindbenchError(Exception):
    """Root of the project's errors."""


class UserError(BlindbenchError):
    """A mistake of the user's: what is wrong, where, and what to do. Exit code 2."""


class RecordError(UserError):
    """A file does not hold the record that it should."""


class InfrastructureError(BlindbenchError):
    """The machine failed, not the user or the arm. Exit code 3."""
