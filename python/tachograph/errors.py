"""What can go wrong. Each error names the file or folder, what was found there and what was expected."""

from __future__ import annotations

from pathlib import Path


class TachographError(Exception):
    """The base of all errors of this package."""


class NotARun(TachographError):
    """The path is no run directory. Nothing is read from it."""


class NoTables(TachographError):
    """The run has no tables of its own: it is a sweep, has repeats, or was not analysed."""


class TornTable(TachographError):
    """A file of the run is damaged or cut short, or a table that every run has is missing."""


class VersionMismatch(TachographError):
    """This package and the run, or this package and the command, do not fit each other."""


class NoSuchName(TachographError, KeyError):
    """The run has no table, chain or kind of figures of this name. The message lists those that it has."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


class CommandNotFound(TachographError):
    """The command `tacho` is neither in this package, nor in TACHO_HOME, nor in PATH."""


class CommandFailed(TachographError):
    """The command ended with an error. `code` is its exit code, `stderr` what it said."""

    def __init__(self, words: list[str], code: int, stderr: str):
        self.words = words
        self.code = code
        self.stderr = stderr
        said = stderr.strip() or "it printed no reason"
        super().__init__(f"tacho {words[0] if words else ''} ended with exit code {code}: {said}")


class ExpectationFailed(TachographError, AssertionError):
    """The run does not keep an expectation. `texts` has a sentence for each one that it does not keep."""

    def __init__(self, run: Path, texts: list[str]):
        self.run = run
        self.texts = texts
        super().__init__("\n".join([*texts, f"run: {run}"]))
