"""Runs the built command for tests."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from places import ROOT
from waiting import LIMIT_S, finished


class Tacho:
    """The built command, run in a directory of its own. `environment` names that directory, which identifies what a
    test started."""

    def __init__(self, directory: Path, environment: dict[str, str]):
        self.directory = directory
        self.environment = environment | {"TACHO_TEST_DIRECTORY": str(directory)}
        self.program = ROOT / "build" / "tacho"
        self.started: list[subprocess.Popen] = []

    def start(self, *arguments: object, before: Sequence[object] = (), **options) -> subprocess.Popen:
        """Starts a verb after the words `before`, a program that starts it in its own way, such as unshare."""
        process = subprocess.Popen(
            [str(word) for word in (*before, self.program, *arguments)],
            cwd=self.directory,
            env=self.environment,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options,
        )
        self.started.append(process)
        return process

    def __call__(
        self, *arguments: object, expect: int = 0, before: Sequence[object] = (), **options
    ) -> subprocess.CompletedProcess:
        """Runs a verb to its end; `expect` is its exit code."""
        process = self.start(*arguments, before=before, **options)
        out, err = finished(process)
        assert process.returncode == expect, f"exit {process.returncode}, expected {expect}\n{out}\n{err}"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def json(self, *arguments: object):
        """Runs a verb with --json and reads what it prints."""
        return json.loads(self(*arguments, "--json").stdout)

    def end(self, patience_s: float = 30):
        """Ends what a test left running: `tacho` in order, then by force all that it or its commands started.

        It does not wait for the ends of pipes, because a process that still runs may hold them.
        """
        for process in self.started:
            process.terminate()
        until = time.monotonic() + patience_s
        while any(process.poll() is None for process in self.started) and time.monotonic() < until:
            time.sleep(0.02)
        until = time.monotonic() + LIMIT_S
        while left := self.running():
            assert time.monotonic() < until, f"processes {left} do not end after SIGKILL"
            for pid in left:
                kill(pid)
            time.sleep(0.02)
        for process in self.started:
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def running(self) -> list[int]:
        """Processes with this test's directory in their environment, whatever started them."""
        mark = b"TACHO_TEST_DIRECTORY=" + os.fsencode(self.directory)
        return [
            int(folder.name)
            for folder in Path("/proc").iterdir()
            if folder.name.isdigit() and mark in environment_of(folder)
        ]


def environment_of(folder: Path) -> list[bytes]:
    """The NAME=VALUE pairs of a process with a folder in /proc; none if it has ended, or is another user's."""
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def kill(pid: int):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended meanwhile
