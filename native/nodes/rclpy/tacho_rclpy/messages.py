"""The message types that these nodes carry, with header and data where `native/middleware/ros2/types.c` has them.

Types with a byte array hold the header in its first 24 bytes, ahead of the data. TwistStamped has no such array: its stamp is
the header's stamp, its frame_id the other header fields in hexadecimal, its six numbers the data.
"""

import array
import struct

from geometry_msgs.msg import TwistStamped
from sensor_msgs.msg import Image, PointCloud2, PointField
from std_msgs.msg import UInt8MultiArray

HEADER = struct.Struct("<QqII")
"""`struct tacho_header`: sequence, stamp_ns, publisher, reserved."""
SECOND_NS = 1_000_000_000
TWIST = struct.Struct("<6d")
TWIST_BYTES = TWIST.size


def _bytes(data: bytes) -> array.array:
    return array.array("B", bytes(HEADER.size) + data)


class InBytes:
    """A type whose `data` begins with the header; written and read there, in place."""

    def __init__(self, name: str, ros_type: type, make, only_size: int | None = None):
        self.name, self.ros_type, self.make, self.only_size = name, ros_type, make, only_size

    def room(self, message) -> array.array:
        """Returns where the header of a message of ours is written."""
        return message.data

    def stamped(self, message, room):
        """Called after the header was written."""

    def header(self, message):
        """Returns bytes that begin with the header."""
        return message.data

    def whole(self, message) -> array.array:
        """Returns the header and the data behind it; what a task writes there is in the message."""
        return message.data

    def filled(self, message, whole: array.array):
        """Called after a task wrote its data into `whole`."""


class InTwist:
    """TwistStamped."""

    name, ros_type, only_size = "TwistStamped", TwistStamped, TWIST_BYTES

    def make(self, data: bytes) -> TwistStamped:
        message = TwistStamped()
        self._set(message, data)
        return message

    def _set(self, message, data):
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = TWIST.unpack(data)

    def room(self, message) -> bytearray:
        return bytearray(HEADER.size)

    def stamped(self, message, room):
        sequence, stamp_ns, publisher, reserved = HEADER.unpack(room)
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(stamp_ns, SECOND_NS)
        message.header.frame_id = f"{sequence:016x}.{publisher:08x}.{reserved:08x}"

    def header(self, message) -> bytes:
        fields = message.header.frame_id.split(".")
        if [len(field) for field in fields] != [16, 8, 8]:
            return b""
        sequence, publisher, reserved = (int(field, 16) for field in fields)
        stamp = message.header.stamp
        return HEADER.pack(sequence, stamp.sec * SECOND_NS + stamp.nanosec, publisher, reserved)

    def whole(self, message) -> array.array:
        linear, angular = message.twist.linear, message.twist.angular
        data = TWIST.pack(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
        return array.array("B", (self.header(message) or bytes(HEADER.size)) + data)

    def filled(self, message, whole: array.array):
        self._set(message, memoryview(whole)[HEADER.size :])


def _cloud(data: bytes) -> PointCloud2:
    """One row of one-byte points, so that any size is a well-formed cloud."""
    message = PointCloud2(height=1, point_step=1, is_dense=True)
    message.header.frame_id = "lidar"
    message.fields = [PointField(name="intensity", datatype=PointField.UINT8, count=1)]
    message.data = _bytes(data)
    message.width = message.row_step = len(message.data)
    return message


def _image(data: bytes) -> Image:
    """One row of mono8."""
    message = Image(height=1, encoding="mono8")
    message.header.frame_id = "camera"
    message.data = _bytes(data)
    message.width = message.step = len(message.data)
    return message


def _array(data: bytes) -> UInt8MultiArray:
    return UInt8MultiArray(data=_bytes(data))


TYPES = {
    of.name: of
    for of in [
        InBytes("PointCloud2", PointCloud2, _cloud),
        InBytes("PointCloud1m", PointCloud2, _cloud, 1 << 20),
        InBytes("Image", Image, _image),
        InBytes("Bytes", UInt8MultiArray, _array),
        InTwist(),
    ]
}


def type_of(name: str, size: int):
    """Returns the type of that name; for "" the one that fits the size; None if there is none."""
    return TYPES.get(name or ("Bytes" if size < 4096 else "PointCloud2"))
