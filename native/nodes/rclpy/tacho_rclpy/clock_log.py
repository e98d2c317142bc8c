"""Logs the clock inside the node: its reading at the first and last line of each callback and at each message, kept
in memory and written at the end. Tests compare the recorder with this independent answer."""

from pathlib import Path


class ClockLog:
    """Readings of one node. Appending to a list is atomic, so that callbacks of several threads may share it."""

    def __init__(self):
        self._callbacks = []
        self._messages = []

    def callback(self, kind: str, number: int, start_ns: int, end_ns: int):
        """Logs a callback, by its number in the node: its first and its last line."""
        self._callbacks.append((kind, number, start_ns, end_ns))

    def message(self, publisher: int, sequence: int, stamp_ns: int, received_ns: int):
        """Logs a message: its publisher's stamp, and when it was received."""
        self._messages.append((publisher, sequence, stamp_ns, received_ns))

    def write(self, folder: str, node: str):
        """Writes `<node>.csv` and `<node>.messages.csv` into `folder`."""
        _write(Path(folder) / f"{node}.csv", "kind,callback,start_ns,end_ns", self._callbacks)
        _write(Path(folder) / f"{node}.messages.csv", "publisher,sequence,stamp_ns,received_ns", self._messages)


def _write(path: Path, head: str, rows: list):
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows), ""]))
