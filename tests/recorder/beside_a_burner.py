"""Callbacks that compute while another thread takes their CPU. Prints, as JSON, what the clocks of this process and the counts of the
kernel say of them: the independent answer to what `tacho record --scheduler on` tells.

Fires the trace points of callbacks itself, through the preloaded recorder; or, given a libtracetools, through that, once a line has come: by
then somebody has attached to it. Then in a thread that is made only after that.

usage: beside_a_burner.py FOLDER [TRACETOOLS]
"""

import ctypes
import json
import os
import resource
import sys
import threading
import time

CALLBACKS = 40
WORK_NS = 8_000_000
BURN_NS = 5_000_000
PAUSE_S = 0.02


def burn(until, now=time.monotonic_ns):
    while now() < until:
        pass


def burner(cpu, pipe):
    """SCHED_FIFO on that CPU: runs whenever it wakes. Prints when it ran, until its input ends."""
    with open("/proc/self/comm", "w") as comm:
        comm.write("burner")
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    ran = []
    while os.getppid() == pipe[2]:
        time.sleep(PAUSE_S)
        start = time.monotonic_ns()
        burn(start + BURN_NS)
        ran.append((start, time.monotonic_ns()))
        if os.path.exists(pipe[0]):
            with open(pipe[1], "w") as file:
                json.dump(ran, file)
            os._exit(0)


def counts():
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as file:
        on_cpu, waiting, _ = map(int, file.read().split())
    return {"voluntary": usage.ru_nvcsw, "involuntary": usage.ru_nivcsw, "on_cpu_ns": on_cpu, "waiting_ns": waiting}


def attached(folder, tracetools):
    ctypes.CDLL(tracetools, ctypes.RTLD_GLOBAL)
    sys.stdin.readline()
    thread = threading.Thread(target=main, args=[folder])
    thread.start()
    thread.join()


def main(folder):
    cpu = max(os.sched_getaffinity(0))
    stop, ran = os.path.join(folder, "stop"), os.path.join(folder, "ran")
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        burner(cpu, (stop, ran, parent))
        os._exit(1)
    os.sched_setaffinity(0, {cpu})
    recorder = ctypes.CDLL(None)
    start, end = recorder.ros_trace_callback_start, recorder.ros_trace_callback_end
    start.argtypes, end.argtypes = [ctypes.c_void_p, ctypes.c_bool], [ctypes.c_void_p]
    start(0x41, False)  # the file is made now, and the thread is known
    end(0x41)
    callbacks = []
    before = counts()
    for _ in range(CALLBACKS):
        start(0x40, False)
        cpu_from, wall_from = time.thread_time_ns(), time.monotonic_ns()
        while time.thread_time_ns() - cpu_from < WORK_NS:
            pass
        time.sleep(0.001)
        wall_to, cpu_to = time.monotonic_ns(), time.thread_time_ns()
        end(0x40)
        callbacks.append({"from_ns": wall_from, "to_ns": wall_to, "cpu_ns": cpu_to - cpu_from})
    after = counts()
    with open(stop, "w"):
        pass
    assert os.waitpid(child, 0)[1] == 0
    with open(ran) as file:
        burned = json.load(file)
    deltas = {name: after[name] - before[name] for name in before}
    print(json.dumps({"tid": threading.get_native_id(), "callbacks": callbacks, "burned": burned, **deltas}))


main(sys.argv[1]) if len(sys.argv) == 2 else attached(*sys.argv[1:])
