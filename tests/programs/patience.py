"""An end for programs that wait for messages: one that never comes must not leave a test waiting for ever."""

import os
import sys
import threading
import time

LIMIT_S = 240.0
"""Longer than a machine that others use keeps a process from running, shorter than tests wait for a command."""


class Patience:
    """Ends the program with exit code 1 and a line on stderr, once `came` has not been called for LIMIT_S. `so_far` says what did come.

    Not a timer of ROS: that would be an event of the program under test.
    """

    def __init__(self, so_far):
        self.so_far = so_far
        self.came()
        threading.Thread(target=self.wait, daemon=True).start()

    def came(self):
        self.last = time.monotonic()

    def wait(self):
        while (left := self.last + LIMIT_S - time.monotonic()) > 0:
            time.sleep(left)
        sys.stderr.write(f"{sys.argv[0]}: nothing came for {LIMIT_S} s; {self.so_far()}\n")
        sys.stderr.flush()
        os._exit(1)
