"""The command line: one file a command; each parses, calls one function, and prints."""

from simsched.cli.main import main

__all__ = ["main"]
