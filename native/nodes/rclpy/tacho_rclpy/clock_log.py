"""The clock inside the node: what it reads at the first and last line of each callback and at each message, kept in memory and
written in the end. The independent answer that the recorder is tested against."""

from pathlib import Path


class ClockLog:
    """Readings of one node; appending to a list is atomic, so that callbacks of several threads may share it."""

    def __init__(self):
        self._callbacks = []
        self._messages = []

    def callback(self, kind: str, number: int, start_ns: int, end_ns: int):
        """A callback, by its number in the node: its first and its last line."""
        self._callbacks.append((kind, number, start_ns, end_ns))

    def message(self, publisher: int, sequence: int, stamp_ns: int, received_ns: int):
        """A message: its publisher's stamp, and when it was received."""
        self._messages.append((publisher, sequence, stamp_ns, received_ns))

    def write(self, folder: str, node: str):
        """`<node>.csv` and `<node>.messages.csv` in `folder`."""
        _write(Path(folder) / f"{node}.csv", "kind,callback,start_ns,end_ns", self._callbacks)
        _write(Path(folder) / f"{node}.messages.csv", "publisher,sequence,stamp_ns,received_ns", self._messages)


def _write(path: Path, head: str, rows: list):
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows), ""]))
