"""Components of one process, by the trace points of Kilted: each takes the topic of the one before in a callback, and publishes its own in it.
Runs until it is killed.

usage: components.py TRACETOOLS COMPONENTS RATE_HZ
"""

import ctypes
import sys
import time

library, components, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
ctypes.CDLL(library, ctypes.RTLD_GLOBAL)  # by it the recorder knows the release
trace = ctypes.CDLL(None)
P, I, C, SIZE, BOOL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_bool
MESSAGE = 0x9000000


def call(name, *types):
    function = getattr(trace, f"ros_trace_{name}")
    function.argtypes = list(types)
    return function


rcl_publish, rmw_publish = call("rcl_publish", P, P), call("rmw_publish", P, P, I)
execute, rmw_take = call("rclcpp_executor_execute", P), call("rmw_take", P, P, I, BOOL)
rcl_take, rclcpp_take = call("rcl_take", P), call("rclcpp_take", P)
start, end = call("callback_start", P, BOOL), call("callback_end", P)


def make(number):
    base = 0x100 * (number + 1)
    call("rcl_node_init", P, P, C, C)(base, base + 1, f"component_{number:02}".encode(), b"/car")
    call("rcl_publisher_init", P, P, P, C, SIZE)(base + 2, base, base + 3, f"/stage_{number:02}".encode(), 10)
    if number > 0:
        call("rcl_subscription_init", P, P, P, C, SIZE)(
            base + 4, base, base + 5, f"/stage_{number - 1:02}".encode(), 10
        )
        call("rclcpp_subscription_init", P, P)(base + 4, base + 6)
        call("rclcpp_subscription_callback_added", P, P)(base + 6, base + 7)
    return base


def take(base, stamp):
    execute(base + 4)
    rmw_take(base + 5, MESSAGE, stamp, True)
    rcl_take(MESSAGE)
    rclcpp_take(MESSAGE)
    start(base + 7, False)


bases = [make(number) for number in range(components)]
begun, turn, stamp = time.monotonic(), 0, 0
while True:
    for number, base in enumerate(bases):
        if number > 0:
            take(base, stamp)
        stamp = time.time_ns()
        rcl_publish(base + 2, MESSAGE)
        rmw_publish(base + 3, MESSAGE, stamp)
        if number > 0:
            end(base + 7)
    turn += 1
    rest = begun + turn / rate - time.monotonic()
    if rest > 0:
        time.sleep(rest)
