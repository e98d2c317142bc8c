# SPDX-License-Identifier: Apache-2.0
"""The ROS master of one domain, on PORT: it serves until nobody holds the lock file USERS any more.

master.cpp starts it with descriptor 3 locked exclusively. The lock lasts as long as this process, and shows that there is a
master. The kernel releases both locks when processes are killed, so neither a master nor a lock can be left behind.
"""

import fcntl
import os
import socket
import sys
import threading
import time

port, users = int(sys.argv[1]), sys.argv[2]
if os.fork():  # nobody's child, so that nobody has to wait for it
    os._exit(0)
os.setsid()  # ^C at the terminal is not meant for the master
os.closerange(4, os.sysconf("SC_OPEN_MAX"))
os.chdir("/")
# The master must not be recorded as the node that started it is.
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.sched_setaffinity(0, range(os.cpu_count()))


def end_with_the_last_user():
    fcntl.flock(os.open(users, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), fcntl.LOCK_EX)
    os._exit(0)


threading.Thread(target=end_with_the_last_user, daemon=True).start()
try:
    # rosmaster does not end if its port is taken.
    with socket.create_server(("127.0.0.1" if os.environ["ROS_IP"].startswith("127.") else "0.0.0.0", port)):
        pass
    from rosmaster.master import Master

    master = Master(port)
    master.start()
except (ImportError, OSError) as error:
    print(f"{error} (port {port})", file=sys.stderr, flush=True)
    os._exit(1)
with open(os.devnull, "w") as nowhere:  # it complains of every node that ends before it gets news of another
    os.dup2(nowhere.fileno(), 1)
    os.dup2(nowhere.fileno(), 2)
while master.ok():
    time.sleep(1)
