#!/usr/bin/env python3
"""Makes a CTF trace of LTTng-UST longer: it writes all of the trace once, then repeats what follows the start-up, with
later times.

    benchmarks/ctf_read/longer.py FIXTURE NEW-FOLDER MEGABYTES

FIXTURE has `truth.json` and a trace below `ctf/`, like those of tests/fixtures/ctf. Nodes are made once, as in a long
recording. The source timestamps of messages move with the events, so takes find their publications. At each joint a few
messages are cut off.
"""

import json
import re
import struct
import sys
import tarfile
from pathlib import Path

# A packet of LTTng-UST: magic, uuid, stream id, instance | begin, end, content, size, sequence, discarded, cpu | events.
CONTEXT, CONTEXT_AT = struct.Struct("<QQQQQQI"), 32
# Events store the low bits of their time, so a shift by a multiple of 2^32 ns leaves them correct. After a long pause
# they store all 64 bits, after an id of 65535 and the real id.
STEP_NS = 1 << 32
LONG_EVENT = re.compile(rb"(?=\xff\xff.\0\0\0(.{8}))", re.DOTALL)
# By this time, all nodes of the fixtures exist.
STARTED_NS = 400_000_000


def packets(data: bytes):
    at = 0
    while at < len(data):
        size = CONTEXT.unpack_from(data, at + CONTEXT_AT)[3] // 8
        yield data[at : at + size]
        at += size


class Times:
    """The positions of times in the packets of one trace: those of events use its clock, those of messages (source
    timestamps) the wall clock."""

    def __init__(self, truth: dict):
        self.first, self.last = truth["first_ns"], truth["last_ns"]
        high = b"|".join(re.escape(struct.pack("<I", top)) for top in range(self.first >> 32, (self.last >> 32) + 1))
        self.stamp = re.compile(rb"(?=(.{4}(?:" + high + rb")))", re.DOTALL)

    def moved(self, packet: bytes, shift: int, sequence: int) -> bytes:
        """Returns the packet `shift` ns later, with this sequence number."""
        begin, end, content, size, _, discarded, cpu = CONTEXT.unpack_from(packet, CONTEXT_AT)
        out = bytearray(packet)
        CONTEXT.pack_into(out, CONTEXT_AT, begin + shift, end + shift, content, size, sequence, discarded, cpu)
        for pattern, first, last in ((LONG_EVENT, begin, end), (self.stamp, self.first, self.last)):
            for found in pattern.finditer(packet):
                (full,) = struct.unpack("<Q", found[1])
                if first <= full <= last:
                    struct.pack_into("<Q", out, found.start(1), full + shift)
        return bytes(out)


def unpack(archive: Path, folder: Path):
    """Unpacks a fixture of tests/fixtures/ctf."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 of Debian 12 does not have it
        opened.extractall(folder)


def make_longer(fixture: Path, target: Path, megabytes: int) -> int:
    """Writes a trace of about `megabytes` MB. Returns how often it contains what follows the start-up, two or more
    times."""
    truth = json.loads((fixture / "truth.json").read_text())
    source, times = next((fixture / "ctf").rglob("metadata")).parent, Times(truth)
    target.mkdir(parents=True)
    (target / "metadata").write_bytes((source / "metadata").read_bytes())
    streams = {
        p.name: list(packets(p.read_bytes())) for p in sorted(source.iterdir()) if p.name != "metadata" and p.is_file()
    }
    begins = {name: [CONTEXT.unpack_from(packet, CONTEXT_AT)[0] for packet in own] for name, own in streams.items()}
    started = min(begin for of in begins.values() for begin in of) + STARTED_NS
    again = {name: [p for p, begin in zip(own, begins[name]) if begin >= started] for name, own in streams.items()}
    once, more = (sum(len(p) for own in of.values() for p in own) for of in (streams, again))
    copies = max(1, round((megabytes * 10**6 - once) / more))
    step = (int(truth["span_s"] * 1e9) // STEP_NS + 2) * STEP_NS
    for name, own in streams.items():
        with open(target / name, "wb") as out:
            out.writelines(own)
            sequence = len(own)
            for copy in range(1, copies + 1):
                for packet in again[name]:
                    out.write(times.moved(packet, copy * step, sequence))
                    sequence += 1
    return copies + 1


if __name__ == "__main__":
    print(f"{make_longer(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))} times")
