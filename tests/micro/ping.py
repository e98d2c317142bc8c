# SPDX-License-Identifier: Apache-2.0
"""ping.py ADDRESS LENGTH: an ICMP echo (RFC 792) of each length of payload up to LENGTH bytes; ends with 1 at the first that is not answered
with the same bytes and a right checksum."""

import os
import socket
import struct
import sys
import time


def checksum(data: bytes) -> int:
    """RFC 1071, two bytes at a time; 0 over data that holds its own."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo(length: int, address: str, icmp: socket.socket) -> str:
    """What is wrong with the answer; empty if nothing is."""
    body = struct.pack("!HH", os.getpid() & 0xFFFF, length) + os.urandom(length)
    asked = struct.pack("!BBH", 8, 0, checksum(struct.pack("!BBH", 8, 0, 0) + body)) + body
    for _ in range(3):  # the first may be lost to ARP
        icmp.sendto(asked, (address, 0))
        until = time.monotonic() + 5
        while (left := until - time.monotonic()) > 0:
            icmp.settimeout(left)
            try:
                answer = icmp.recv(2048)
            except TimeoutError:
                break
            answer = answer[(answer[0] & 15) * 4 :]
            if answer[0] == 0 and answer[4:8] == body[:4]:
                return (
                    ""
                    if answer[4:] == body and checksum(answer) == 0
                    else f"{length} bytes: sent {asked.hex()}, answered {answer.hex()}"
                )
    return f"{length} bytes: no answer"


with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as icmp:
    for length in range(int(sys.argv[2]) + 1):
        if wrong := echo(length, sys.argv[1], icmp):
            sys.exit(wrong)
