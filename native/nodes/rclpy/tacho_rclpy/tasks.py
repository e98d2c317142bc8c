"""The task of a node: `libtacho_node_tasks.so` runs it as `tacho-node` does (`native/include/tacho/node_tasks.h`)."""

import array
import ctypes
import json
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from tacho_rclpy.messages import HEADER
from tacho_rclpy.refused import Refused, TaskFailed

ABI = 1
"""`TACHO_NODE_TASKS_ABI`."""
ERROR_SIZE = 1024


class _Lent(Structure):
    _fields_ = [("header", c_void_p), ("data", c_void_p), ("size", c_size_t), ("input", c_size_t)]


class _Output(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("publish", c_uint32), ("reserved", c_uint32)]


class _Table(Structure):
    _fields_ = [
        ("abi", c_uint32),
        ("reserved", c_uint32),
        ("create", CFUNCTYPE(c_void_p, c_char_p, c_uint64, c_char_p)),
        ("hear", CFUNCTYPE(None, c_void_p, POINTER(_Lent))),
        ("run", CFUNCTYPE(c_int, c_void_p, POINTER(_Lent), POINTER(_Output), c_char_p)),
        ("figures", CFUNCTYPE(c_char_p, c_void_p)),
        ("destroy", CFUNCTYPE(None, c_void_p)),
    ]


def _table(libraries: str) -> _Table:
    path = Path(libraries) / "libtacho_node_tasks.so"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise Refused(f"{path}: cannot be loaded, expected what runs tasks: {error}: make build") from error
    library.tacho_node_tasks.restype = POINTER(_Table)
    table = library.tacho_node_tasks().contents
    if table.abi != ABI:
        raise Refused(f"{path}: speaks ABI {table.abi} of node_tasks.h, expected {ABI}: build it again")
    return table


def _lent(number: int, whole: array.array) -> _Lent:
    address, size = whole.buffer_info()
    return _Lent(address, address + HEADER.size, size - HEADER.size, number)


class Task:
    """The task of a planned node. Messages are arrays that begin with the header; the data stands behind it."""

    def __init__(self, plan: dict, libraries: str, node: int):
        self._table = _table(libraries)
        self._error = ctypes.create_string_buffer(ERROR_SIZE)
        self._raw = self._table.create(json.dumps(plan).encode(), node, self._error)
        if not self._raw:
            raise Refused(self._error.value.decode(errors="replace"))
        self._outputs = (_Output * len(plan["outputs"]))()

    def hear(self, number: int, whole: array.array):
        """Keeps a message of this subscription, which makes the node compute nothing."""
        self._table.hear(self._raw, _lent(number, whole))

    def run(self, lent: tuple[int, array.array] | None, wholes: list[array.array | None]) -> list[bool]:
        """One activation, with the message that a callback took, and for each publication the message to fill, or
        None. Returns which of them the task publishes. Other threads of Python run meanwhile."""
        for output, whole in zip(self._outputs, wholes, strict=True):
            address, size = whole.buffer_info() if whole is not None else (None, HEADER.size)
            output.data = None if address is None else address + HEADER.size
            output.size, output.publish = size - HEADER.size, 0
        message = None if lent is None else _lent(*lent)
        if self._table.run(self._raw, message, self._outputs, self._error) < 0:
            raise TaskFailed(self._error.value.decode(errors="replace"))
        return [bool(output.data and output.publish) for output in self._outputs]

    def figures(self) -> dict | None:
        """What the task reports of its quality."""
        return json.loads(self._table.figures(self._raw))

    def destroy(self):
        if self._raw:
            self._table.destroy(self._raw)
            self._raw = None
