# SPDX-License-Identifier: Apache-2.0
"""Frames on the host's side of a bridged network, as Wireshark's dissectors see them."""

import shutil
import subprocess

import pytest
from processes import PATIENCE_S, Program

MALFORMED = "(_ws.malformed || _ws.expert.severity == error || udp.checksum.status == 0 || ip.checksum.status == 0)"


class Capture:
    """Captures frames from here on into a file; skips the test if there is no tshark."""

    def __init__(self, network, file, started):
        if not shutil.which("tshark") or not shutil.which("dumpcap"):
            pytest.skip("needs tshark")
        self.file = file
        self.program = started(Program("dumpcap", "-q", "-i", "host", "-w", file, prefix=network.prefix))
        self.program.wait_for("File:")

    def end(self):
        self.program.process.terminate()
        self.program.process.wait(PATIENCE_S)

    def packets(self, condition: str) -> list[str]:
        """A line for each frame that Wireshark's display filter lets through."""
        command = [
            "tshark",
            "-r",
            self.file,
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
            # RTPS before what a port is known for: that of domain 24, 13400, is registered for DoIP.
            "-o",
            "udp.try_heuristic_first:TRUE",
            "-Y",
            condition,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    def expect_well_formed(self, source: str):
        """Some of what `source` sent is RTPS, and nothing is malformed or has a wrong checksum."""
        assert len(self.packets(f"ip.src == {source} && rtps")) > 20
        assert self.packets(f"ip.src == {source} && {MALFORMED}") == []
