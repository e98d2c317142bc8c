"""Runs tasks of a built library through task.h, in virtual time: no node, no middleware, no clock."""

import ctypes
import struct
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path

from places import ROOT

ABI = 2
ERROR_SIZE = 1024


class Parameter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("least", c_double),
        ("greatest", c_double),
        ("initial", c_double),
        ("meaning", c_char_p),
    ]


class Slot(Structure):
    _fields_ = [("name", c_char_p), ("size", c_size_t), ("optional", c_uint32), ("reserved", c_uint32)]


class Endpoint(Structure):
    _fields_ = [("topic", c_char_p), ("type", c_char_p), ("size", c_size_t)]


class Config(Structure):
    _fields_ = [
        ("node", c_char_p),
        ("seed", c_uint64),
        ("values", POINTER(c_double)),
        ("inputs", POINTER(Endpoint)),
        ("input_count", c_size_t),
        ("outputs", POINTER(Endpoint)),
        ("output_count", c_size_t),
        ("texts", POINTER(c_char_p)),
    ]


class Input(Structure):
    _fields_ = [
        ("sequence", c_uint64),
        ("stamp_ns", c_int64),
        ("publisher", c_uint32),
        ("header_reserved", c_uint32),
        ("data", c_void_p),
        ("size", c_size_t),
        ("is_new", c_uint32),
        ("reserved", c_uint32),
    ]


class Output(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("publish", c_uint32), ("reserved", c_uint32)]


REPORT = CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_int64, c_double)


class Call(Structure):
    _fields_ = [
        ("now_ns", c_int64),
        ("inputs", POINTER(Input)),
        ("outputs", POINTER(Output)),
        ("report", REPORT),
        ("report_context", c_void_p),
    ]


class Text(Structure):
    _fields_ = [("name", c_char_p), ("meaning", c_char_p)]


class Signal(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("meaning", c_char_p),
        ("is_list", c_uint32),
        ("reserved", c_uint32),
    ]


FIGURE = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_double)


class Kind(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("meaning", c_char_p),
        ("parameters", POINTER(Parameter)),
        ("parameter_count", c_size_t),
        ("inputs", POINTER(Slot)),
        ("input_count", c_size_t),
        ("outputs", POINTER(Slot)),
        ("output_count", c_size_t),
        ("create", CFUNCTYPE(c_void_p, POINTER(Config), c_void_p)),
        ("run", CFUNCTYPE(c_int, c_void_p, POINTER(Call), c_void_p)),
        ("figures", CFUNCTYPE(None, c_void_p, FIGURE, c_void_p)),
        ("destroy", CFUNCTYPE(None, c_void_p)),
        ("signals", POINTER(Signal)),
        ("signal_count", c_size_t),
        ("texts", POINTER(Text)),
        ("text_count", c_size_t),
    ]


class Tasks(Structure):
    _fields_ = [("abi", c_uint32), ("name", c_char_p), ("kinds", POINTER(Kind)), ("kind_count", c_size_t)]


class TaskFailed(Exception):
    pass


def libraries() -> list[Path]:
    return sorted((ROOT / "build/lib").glob("libtacho_tasks_*.so"))


def kinds(path: Path) -> dict[str, Kind]:
    library = ctypes.CDLL(str(path))
    library.tacho_tasks.restype = POINTER(Tasks)
    table = library.tacho_tasks().contents
    assert table.abi == ABI
    return {table.kinds[i].name.decode(): table.kinds[i] for i in range(table.kind_count)}


def find(name: str) -> Kind:
    found = [all_of[name] for all_of in map(kinds, libraries()) if name in all_of]
    assert len(found) == 1, f"{len(found)} libraries have {name}"
    return found[0]


class Task:
    """A task with the latest message of each of its inputs. `parameters` are in the units that the task receives."""

    def __init__(
        self,
        name: str,
        inputs: int | None = None,
        sizes: list[int] | None = None,
        seed: int = 1,
        library: Path | None = None,
        texts: dict[str, str] | None = None,
        **parameters,
    ):
        self.kind = kinds(library)[name] if library else find(name)
        known = [self.kind.parameters[i] for i in range(self.kind.parameter_count)]
        unknown = set(parameters) - {p.name.decode() for p in known}
        assert not unknown, f"{name} has no {unknown}"
        values = [float(parameters.get(p.name.decode(), p.initial)) for p in known]
        count = self.kind.input_count if inputs is None else inputs
        self.sizes = sizes or [self.kind.outputs[i].size for i in range(self.kind.output_count)]
        self.inputs = [Input() for _ in range(count)]
        self.messages: list[ctypes.Array | None] = [None] * count
        slots = [Endpoint(b"/" + self.kind.inputs[i].name.replace(b" ", b"_"), b"", 0) for i in range(count)]
        outputs = [Endpoint(f"/output_{i}".encode(), b"", size) for i, size in enumerate(self.sizes)]
        config = Config(
            b"node",
            seed,
            (c_double * len(values))(*values),
            (Endpoint * len(slots))(*slots),
            len(slots),
            (Endpoint * len(outputs))(*outputs),
            len(outputs),
            (c_char_p * self.kind.text_count)(
                *((texts or {}).get(self.kind.texts[i].name.decode(), "").encode() for i in range(self.kind.text_count))
            ),
        )
        self.error = ctypes.create_string_buffer(ERROR_SIZE)
        # What it reported in the last call: name, entry, instant and value.
        self.reported: list[tuple[str, int, float, float]] = []
        self.report = REPORT(self.hear_report)
        self.raw = self.kind.create(ctypes.byref(config), self.error)
        if not self.raw:
            raise TaskFailed(self.error.value.decode())

    def __del__(self):
        if getattr(self, "raw", None):
            self.kind.destroy(self.raw)

    def hear(self, index: int, message: bytes | None):
        """Gives an input its latest message, for the next call."""
        if message is None:
            return
        self.messages[index] = ctypes.create_string_buffer(message, len(message))
        self.inputs[index].data = ctypes.addressof(self.messages[index])
        self.inputs[index].size = len(message)
        self.inputs[index].is_new = 1

    def __call__(self, now_s: float, *messages: bytes | None, due: bool = True) -> list[bytes | None]:
        """One activation at a time, with these new messages; returns what it publishes on each output."""
        for index, message in enumerate(messages):
            self.hear(index, message)
        buffers = [ctypes.create_string_buffer(size) for size in self.sizes]
        outputs = [Output(ctypes.addressof(b) if due else None, len(b), 0, 0) for b in buffers]
        self.reported.clear()
        call = Call(
            round(now_s * 1e9),
            (Input * len(self.inputs))(*self.inputs),
            (Output * len(outputs))(*outputs),
            self.report,
            None,
        )
        result = self.kind.run(self.raw, ctypes.byref(call), self.error)
        for message in self.inputs:
            message.is_new = 0
        if result < 0:
            raise TaskFailed(self.error.value.decode())
        return [b.raw if call.outputs[i].publish else None for i, b in enumerate(buffers)]

    def hear_report(self, _, signal: int, entry: int, at_ns: int, value: float):
        self.reported.append((self.kind.signals[signal].name.decode(), entry, at_ns / 1e9, value))

    def figures(self) -> dict[str, float]:
        """Its figures of quality, by their names."""
        found = {}
        if self.kind.figures:
            add = FIGURE(lambda _, name, unit, value: found.__setitem__(name.decode(), value))
            self.kind.figures(self.raw, add, None)
        return found


def kind_number(letters: str) -> int:
    return struct.unpack("<I", letters.encode())[0]


def message(letters: str, layout: str, *values, count: int = 0, stamp_ns: int = 0) -> bytes:
    """A message with its prefix: `letters` name its kind, `layout` is that of struct."""
    return struct.pack("<IIq", kind_number(letters), count, stamp_ns) + struct.pack("<" + layout, *values)


def content(data: bytes, letters: str, layout: str) -> tuple:
    """What stands behind the prefix of a message of this kind."""
    assert struct.unpack_from("<I", data)[0] == kind_number(letters)
    return struct.unpack_from("<" + layout, data, 16)


def stamp_ns(data: bytes) -> int:
    return struct.unpack_from("<q", data, 8)[0]
