"""Sends RTPS messages to itself over the loopback and prints, of each, its sequence number and when the kernel received it, ns of
CLOCK_REALTIME (SO_TIMESTAMPNS): COUNT"""

import socket
import struct
import sys

SO_TIMESTAMPNS = 35  # <asm-generic/socket.h>; not in Python's socket
PREFIX = bytes(range(1, 13))


def message(sequence: int) -> bytes:
    """An RTPS message with one DATA submessage of writer 0x00000103 (DDSI-RTPS 2.5, section 9.4)."""
    data = struct.pack("<HHIIiI", 0, 16, 0, 0x03010000, 0, sequence) + b"\0\1\0\0data"
    return b"RTPS\2\3\1\x0f" + PREFIX + struct.pack("<BBH", 0x15, 5, len(data)) + data


receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for sequence in range(1, int(sys.argv[1]) + 1):
    sender.sendmsg([message(sequence)], [], 0, receiver.getsockname())
    _, extra, _, _ = receiver.recvmsg(2048, 64)
    seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
    print(sequence, seconds * 10**9 + nanoseconds)
# Datagrams that are no RTPS pass unseen, and a cut message is read as far as it goes.
sender.sendto(b"RTPX" + bytes(60), receiver.getsockname())
assert len(receiver.recvfrom(2048)[0]) == 64
sender.sendto(message(9999)[:25], receiver.getsockname())
assert len(receiver.recvfrom(2048)[0]) == 25
