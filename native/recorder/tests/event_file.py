"""An independent reader of event files for tests, written from docs/event-file.md. It favours clarity over speed."""

import pathlib
import re
import struct
from dataclasses import dataclass, field

HEADER = struct.Struct("<8s6I10Q3Q40s64s32s64s512s2048s")
CHUNK = struct.Struct("<IIQQQ16s16x")
TEXT, CLOCK_SYNC = 1, 2


def kinds() -> dict[int, str]:
    """Returns the kinds and their names from the C header: `TACHO_RCL_INIT = 16,` and those that count on from it."""
    header = pathlib.Path(__file__).parents[2] / "include/tacho/events.h"
    body = header.read_text().split("enum tacho_kind {")[1].split("};")[0]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    found, number = {}, 0
    for name, value in re.findall(r"TACHO_(\w+)(?:\s*=\s*(\d+))?\s*,", body):
        number = int(value) if value else number + 1
        found[number] = name.lower()
    return found


@dataclass
class Event:
    """One event. `ticks` count as the header's clock does; `texts` are those of the TEXT records before it."""

    tid: int
    thread: str
    ticks: int
    kind: str
    words: list[int]
    texts: list[str] = field(default_factory=list)


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode()


class EventFile:
    """A whole event file: header fields as attributes, and `events` in time order."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        raw = self.path.read_bytes()
        (
            magic,
            header_size,
            chunk_size,
            self.clock,
            self.pid,
            self.ppid,
            tracetools,
            self.start_ticks,
            self.start_monotonic_ns,
            self.start_realtime_ns,
            self.start_bound_ns,
            self.chunks_max,
            self.chunks_reserved,
            self.chunks_allocated,
            self.dropped,
            self.closed,
            self.storage_error,
            _,
            _,
            _,
            boot_id,
            host,
            distro,
            rmw,
            executable,
            command,
        ) = HEADER.unpack_from(raw)
        assert magic == b"TACHOEV1", f"{path}: magic is {magic!r}"
        self.tracetools = f"{tracetools >> 16}.{tracetools >> 8 & 255}.{tracetools & 255}"
        self.boot_id, self.host, self.ros_distro = _text(boot_id), _text(host), _text(distro)
        self.rmw_implementation, self.executable, self.command = _text(rmw), _text(executable), _text(command)
        names = kinds()
        self.events = []
        for start in range(header_size, len(raw) - chunk_size + 1, chunk_size):
            magic, tid, _, base, _, thread = CHUNK.unpack_from(raw, start)
            if magic != 0x4B4E4843:
                continue
            at, end, text = start + CHUNK.size, start + chunk_size, b""
            while at < end:
                (head,) = struct.unpack_from("<Q", raw, at)
                if head == 0:
                    break
                count, kind = head & 63, head >> 6 & 1023
                if kind == TEXT:
                    text += raw[at + 8 : at + 8 + 8 * count]
                else:
                    words = list(struct.unpack_from(f"<{count}Q", raw, at + 8))
                    texts = [part.decode() for part in text.rstrip(b"\0").split(b"\0")] if text else []
                    self.events.append(Event(tid, _text(thread), base + (head >> 16), names[kind], words, texts))
                    text = b""
                at += 8 + 8 * count
        self.events.sort(key=lambda event: event.ticks)

    def named(self, kind: str) -> list[Event]:
        """Returns the events of one kind."""
        return [event for event in self.events if event.kind == kind]


def read_directory(path) -> list[EventFile]:
    """Reads all event files of a directory."""
    return [EventFile(file) for file in sorted(pathlib.Path(path).glob("*.events"))]
