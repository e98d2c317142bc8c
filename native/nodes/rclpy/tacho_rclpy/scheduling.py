"""Sets the CPUs and the scheduling of a node's thread. In Linux both belong to a thread, and threads that it starts
inherit them."""

import os
import threading

from tacho_rclpy.refused import Refused

POLICIES = {"fifo": os.SCHED_FIFO, "round_robin": os.SCHED_RR}


def schedule(plan: dict):
    """Sets CPUs and scheduling of the calling thread as the plan of a node requires."""
    name = plan["node"]["name"]
    if plan["cpus"]:
        try:
            os.sched_setaffinity(0, plan["cpus"])
        except OSError as error:
            raise Refused(
                f"node {name}: CPUs {plan['cpus']}: {error.strerror}; expected some of {sorted(os.sched_getaffinity(0))}"
            )
    if scheduling := plan.get("scheduling"):
        kind, value = next(iter(scheduling.items()))
        try:
            if kind == "nice":
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), value)
            else:
                os.sched_setscheduler(0, POLICIES[kind], os.sched_param(value))
        except OSError as error:
            raise Refused(
                f"node {name}: {kind} {value}: {error.strerror}; real-time and negative nice values need root, "
                "CAP_SYS_NICE, or `ulimit -r` and `ulimit -e`"
            )
