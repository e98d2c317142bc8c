"""An independent reader of event files for tests, written from docs/event-file.md. It favours clarity over speed."""

import pathlib
import re
import struct
from dataclasses import dataclass, field

HEADER = struct.Struct("<8s6I10Q3Q40s64s32s64s512s2048s1024x128s")
CHUNK = struct.Struct("<IIQQQ16s16x")
TEXT, TIME, WIDE, GID = 1, 3, 4, 5
ANY_SIZE = 15
INCLUDE = pathlib.Path(__file__).parents[2] / "include/tacho"


def kinds() -> dict[int, str]:
    """Returns the kinds and their names from the C header: `TACHO_RCL_INIT = 16,` and those that count on from it."""
    body = (INCLUDE / "events.h").read_text().split("enum tacho_kind {")[1].split("};")[0]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    found, number = {}, 0
    for name, value in re.findall(r"TACHO_(\w+)(?:\s*=\s*(\d+))?\s*,", body):
        number = int(value) if value else number + 1
        found[number] = name.lower()
    return found


def widths() -> dict[str, str]:
    """Returns the digits of the words of each kind that has words, from the C header: `[TACHO_RCL_INIT] = 0xa,`."""
    found = re.findall(r"\[TACHO_(\w+)\] = 0x(\w+),", (INCLUDE / "widths.h").read_text())
    return {name.lower(): digits for name, digits in found}


def _words(digits: str, payload: bytes, gids: dict[int, list[int]]) -> list[int]:
    """Returns the words of an event. Of a pointer, whatever its digit, only the lowest 4 bytes count."""
    words, place = [], 0
    for digit in digits:
        width = {"9": 4, "a": 6, "b": 1, "c": 0, "e": 0, "f": 0}.get(digit) if digit > "8" else int(digit)
        number = int.from_bytes(payload[place : place + width], "little")
        place += width
        if digit == "b":
            words += gids[number]
        elif digit != "c":
            words.append({"a": number & 0xFFFFFFFF, "f": 1}.get(digit, number))
    return words


@dataclass
class Event:
    """One event. `ticks` count as the header's clock does; `texts` are those of the TEXT record before it."""

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
            sizes,
        ) = HEADER.unpack_from(raw)
        assert magic == b"TACHOEV3", f"{path}: magic is {magic!r}"
        self.tracetools = f"{tracetools >> 16}.{tracetools >> 8 & 255}.{tracetools & 255}"
        self.boot_id, self.host, self.ros_distro = _text(boot_id), _text(host), _text(distro)
        self.rmw_implementation, self.executable, self.command = _text(rmw), _text(executable), _text(command)
        names, words_of = kinds(), widths()
        self.events = []
        self.record_bytes = 0  # of all records, with texts, times and what fills up
        for start in range(header_size, len(raw) - chunk_size + 1, chunk_size):
            magic, tid, _, base, _, thread = CHUNK.unpack_from(raw, start)
            if magic != 0x4B4E4843:
                continue
            at, end, texts, passed, gids = start + CHUNK.size, start + chunk_size, [], 0, {}
            while at + 4 <= end:
                (head,) = struct.unpack_from("<I", raw, at)
                if head == 0:
                    break
                kind, ticks = head & 255, head >> 8
                size = 4 * (sizes[kind // 2] >> (kind % 2 * 4) & 15)
                at += 4
                if size == 4 * ANY_SIZE:
                    units, wide_kind = struct.unpack_from("<HH", raw, at)
                    size = 4 * units
                    at += 4
                payload = raw[at : at + size]
                at += size
                if kind == TEXT:
                    texts = [part.decode() for part in payload.rstrip(b"\0").split(b"\0")]
                    continue
                if kind == TIME:
                    passed = ticks << 24
                    continue
                if kind == GID:
                    number, *gid = struct.unpack("<IQQ", payload)
                    gids[number] = gid
                    continue
                if kind == WIDE:
                    name, words = names[wide_kind], list(struct.unpack(f"<{size // 8}Q", payload))
                else:
                    words = _words(words_of.get(names[kind], ""), payload, gids)
                    name = names[kind].removeprefix("short_")
                self.events.append(Event(tid, _text(thread), base + passed + ticks, name, words, texts))
                texts = []
            self.record_bytes += at - start - CHUNK.size
        self.events.sort(key=lambda event: event.ticks)

    def named(self, kind: str) -> list[Event]:
        """Returns the events of one kind."""
        return [event for event in self.events if event.kind == kind]


def read_directory(path) -> list[EventFile]:
    """Reads all event files of a directory."""
    return [EventFile(file) for file in sorted(pathlib.Path(path).glob("*.events"))]
