# SPDX-License-Identifier: Apache-2.0
"""Networks for emulated boards: a namespace with a bridge, a tap device for each board and a veth pair for the
host's side, shaped to 100 Mbit. Without permission for that, QEMU's user networking."""

import os
import subprocess

from processes import Program

DISCOVERY = 7400


def ip(*arguments: str):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        raise PermissionError(f"{' '.join(arguments)}: {done.stderr.strip()}")


class BridgedNetwork:
    """10.77.0.0/24; the host's side is 10.77.0.1, board n is 10.77.0.(n + 1)."""

    kind = "bridge"

    def __init__(self, name: str):
        self.name = name
        self.boards = 0
        ip("ip", "netns", "add", name)
        try:
            for command in (
                "ip link set lo up",
                "ip link add bridge type bridge mcast_snooping 0",
                "ip link add host type veth peer name port",
                "ip link set port master bridge",
                "ip addr add 10.77.0.1/24 dev host",
                *(f"ip link set {device} up" for device in ("bridge", "host", "port")),
                "ip route add 239.255.0.0/16 dev host",
            ):
                self.run(command)
        except PermissionError:
            self.close()
            raise

    def run(self, command: str):
        ip("ip", "netns", "exec", self.name, *command.split())

    @property
    def prefix(self) -> tuple:
        """The words before a program that runs in this network."""
        return ("ip", "netns", "exec", self.name)

    def board(self, image, domain: int, *options: str) -> Program:
        self.boards += 1
        tap, host = f"tap{self.boards}", self.boards + 1
        self.run(f"ip tuntap add {tap} mode tap")
        self.run(f"ip link set {tap} master bridge up")
        self.run(f"tc qdisc add dev {tap} root tbf rate 100mbit burst 16kb latency 50ms")
        return qemu(
            image,
            f"tap,ifname={tap},script=no,downscript=no,model=lan9118,mac=02:{domain:02x}:0a:4d:00:{host:02x}",
            *options,
            prefix=self.prefix,
        )

    def close(self):
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)


class UserNetwork:
    """One board, 10.0.2.15 behind QEMU's gateway; the host reaches it on its loopback, ports 10000 higher."""

    kind = "user"
    prefix = ()

    def board(self, image, domain: int, *options: str) -> Program:
        base = DISCOVERY + 250 * domain
        forward = ",".join(f"hostfwd=udp:127.0.0.1:{base + 10000 + port}-:{base + port}" for port in (10, 11))
        return qemu(image, f"user,model=lan9118,mac=02:{domain:02x}:0a:00:02:0f,{forward}", *options)

    def close(self):
        pass


def qemu(image, nic: str, *options: str, prefix=()) -> Program:
    board = Program(
        "qemu-system-arm",
        "-M",
        "mps2-an386",
        "-kernel",
        image,
        "-display",
        "none",
        "-monitor",
        "none",
        "-serial",
        "stdio",
        "-semihosting",
        "-nic",
        nic,
        *options,
        prefix=prefix,
    )
    board.ends_with_input = False
    return board


def best_network() -> BridgedNetwork | UserNetwork:
    try:
        return BridgedNetwork(f"micro{os.getpid()}")
    except (PermissionError, FileNotFoundError) as why:
        print(f"no network namespace ({why}): QEMU's user networking instead")
        return UserNetwork()
