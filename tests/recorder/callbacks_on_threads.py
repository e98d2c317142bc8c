"""Fires the trace points of callbacks on many threads, through the preloaded recorder, and prints as JSON how many
descriptors of the kernel's counts of a thread (schedstat) this process has at each stage.

usage: callbacks_on_threads.py THREADS
"""

import ctypes
import json
import os
import sys
import threading
import time

CALLBACK = 0x40


def call_back(recorder=ctypes.CDLL(None)):
    recorder.ros_trace_callback_start(ctypes.c_void_p(CALLBACK), ctypes.c_bool(False))
    recorder.ros_trace_callback_end(ctypes.c_void_p(CALLBACK))


def descriptors():
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            pass  # of the listing itself
    return sum(link.endswith("/schedstat") for link in found)


def left(expected):
    """How many there are once threads that were joined have ended."""
    until = time.monotonic() + 10
    while descriptors() != expected and time.monotonic() < until:
        time.sleep(0.001)
    return descriptors()


def in_a_child():
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        inherited = descriptors()
        call_back()
        call_back()
        os.write(write, json.dumps([inherited, descriptors()]).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(os.read(read, 100))


def main(threads):
    call_back()
    call_back()
    said = {"one": descriptors()}
    for _ in range(threads):
        thread = threading.Thread(target=call_back)
        thread.start()
        thread.join()
    said["in_turn"] = left(said["one"])

    all_have, may_end = threading.Barrier(threads + 1), threading.Event()

    def stay():
        call_back()
        all_have.wait()
        may_end.wait()

    together = [threading.Thread(target=stay) for _ in range(threads)]
    for thread in together:
        thread.start()
    all_have.wait()
    said["together"], said["child"] = descriptors(), in_a_child()
    may_end.set()
    for thread in together:
        thread.join()
    said["afterwards"] = left(said["one"])
    print(json.dumps(said))


main(int(sys.argv[1]))
