"""A talker and a listener in one process, by the trace points of Kilted: publishes at a steady rate and calls back at once. Prints once a
second how many messages it published in it, as `second NUMBER COUNT FROM_NS TO_NS`, then `end`.

usage: ring_program.py TRACETOOLS RATE_HZ SECONDS [SLOW_FILE | wait]    while SLOW_FILE is there, callbacks begin 1.5 s late; wait: for a line.
SIGINT ends it.
"""

import ctypes
import os
import signal
import sys
import threading
import time

library, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
waits = sys.argv[4:] == ["wait"]
slow_file = sys.argv[4] if len(sys.argv) > 4 and not waits else None
ctypes.CDLL(
    library, ctypes.RTLD_GLOBAL
)  # by it the recorder knows the release; without a recorder its functions are called
trace = ctypes.CDLL(None)
P, I = ctypes.c_void_p, ctypes.c_int64


def call(name, *types):
    function = getattr(trace, f"ros_trace_{name}")
    function.argtypes = list(types)
    return function


rcl_publish, rmw_publish = call("rcl_publish", P, P), call("rmw_publish", P, P, I)
execute, rmw_take = call("rclcpp_executor_execute", P), call("rmw_take", P, P, I, ctypes.c_bool)
rcl_take, rclcpp_take = call("rcl_take", P), call("rclcpp_take", P)
start, end = call("callback_start", P, ctypes.c_bool), call("callback_end", P)
NODE, PUBLISHER, SUBSCRIPTION = 0x10, (0x20, 0x21), (0x30, 0x31, 0x32, 0x33)
if waits:
    sys.stdin.readline()
gid = (ctypes.c_uint8 * 16)(*range(16))

call("rcl_node_init", P, P, ctypes.c_char_p, ctypes.c_char_p)(NODE, 0x11, b"demo", b"/")
call("rcl_publisher_init", P, P, P, ctypes.c_char_p, ctypes.c_size_t)(PUBLISHER[0], NODE, PUBLISHER[1], b"/points", 10)
call("rcl_subscription_init", P, P, P, ctypes.c_char_p, ctypes.c_size_t)(
    SUBSCRIPTION[0], NODE, SUBSCRIPTION[1], b"/points", 10
)
call("rclcpp_subscription_init", P, P)(SUBSCRIPTION[0], SUBSCRIPTION[2])
call("rclcpp_subscription_callback_added", P, P)(SUBSCRIPTION[2], SUBSCRIPTION[3])
call("rclcpp_callback_register", P, ctypes.c_char_p)(SUBSCRIPTION[3], b"on_points")


def message(number):
    address, stamp = 0x1000 + number % 1000, time.time_ns()
    before = time.monotonic_ns()
    rcl_publish(PUBLISHER[0], address)
    after = time.monotonic_ns()
    rmw_publish(PUBLISHER[1], address, stamp)
    if slow_file and os.path.exists(slow_file):
        time.sleep(1.5)
    execute(SUBSCRIPTION[0])
    rmw_take(SUBSCRIPTION[1], address, stamp, True)
    rcl_take(address)
    rclcpp_take(address)
    start(SUBSCRIPTION[3], False)
    end(SUBSCRIPTION[3])
    return before, after


def talk():
    begun, number = time.monotonic(), 0
    first = count = second = 0
    while time.monotonic() - begun < seconds and not interrupted.is_set():
        before, after = message(number)
        first = first or before
        number, count = number + 1, count + 1
        if time.monotonic() - begun >= second + 1:
            print("second", second, count, first, after, flush=True)
            second, first, count = second + 1, 0, 0
        rest = begun + number / rate - time.monotonic()
        if rest > 0:
            time.sleep(rest)
    print("end", flush=True)


# Once is enough, because an exception in the main thread would not end the other one.
interrupted = threading.Event()
signal.signal(signal.SIGINT, lambda *_: interrupted.set())
# A thread of its own, because the thread that made everything must not fire any more events.
thread = threading.Thread(target=talk)
thread.start()
thread.join()
