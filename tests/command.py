"""The built command as tests run it."""

import json
import subprocess
from pathlib import Path

from places import ROOT


class Tacho:
    """The built command, run in a directory of its own."""

    def __init__(self, directory: Path, environment: dict[str, str]):
        self.directory = directory
        self.environment = environment
        self.program = ROOT / "build" / "tacho"
        self.started: list[subprocess.Popen] = []

    def start(self, *arguments: object, **options) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(self.program), *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self.started.append(process)
        return process

    def end(self):
        """Ends what a failed test left running; `tacho` ends what it has started."""
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)

    def __call__(self, *arguments: object, expect: int = 0) -> subprocess.CompletedProcess:
        """Runs a verb to its end; `expect` is its exit code."""
        done = subprocess.run(
            [str(self.program), *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == expect, f"exit {done.returncode}, expected {expect}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: object):
        """Runs a verb with --json and reads what it prints."""
        return json.loads(self(*arguments, "--json").stdout)
