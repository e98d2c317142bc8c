"""Configures the network that rclpy uses. It must be called before rclpy.init, and Fast DDS reads the profile when
the first node is made. The transport is the default one of the plugin ros2 (`native/middleware/ros2/transport.c`),
so that both measure the same layers below."""

import os
import tempfile

import rclpy

from tacho_rclpy.refused import Refused

FAST_DDS = "rmw_fastrtps_cpp"
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
PROFILES = "FASTDDS_DEFAULT_PROFILES_FILE"
USERS_OWN = (PROFILES, "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_BUILTIN_TRANSPORTS")

PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>
  <transport_descriptors>
    <transport_descriptor>
      <transport_id>udp</transport_id><type>UDPv4</type>
      <interfaceWhiteList><address>{address}</address></interfaceWhiteList>
    </transport_descriptor>
    <transport_descriptor><transport_id>shm</transport_id><type>SHM</type><maxMessageSize>65500</maxMessageSize></transport_descriptor>
  </transport_descriptors>
  <participant profile_name="tacho" is_default_profile="true"><rtps>
    <userTransports>{transports}</userTransports>
    <useBuiltinTransports>false</useBuiltinTransports>
    <builtin><discovery_config><leaseDuration><sec>10</sec></leaseDuration></discovery_config></builtin>
    <propertiesPolicy><properties>
      <property><name>fastdds.type_propagation</name><value>disabled</value></property>
    </properties></propertiesPolicy>
  </rtps></participant>
</profiles></dds>
"""


class Network:
    """Writes the profile. With "" discovery and traffic stay on this machine, because a measurement must neither
    disturb a vehicle network nor be disturbed by it; else they use only the interface of that IPv4 address. If the
    user has a configuration of Fast DDS, only that one counts."""

    def __init__(self, address: str):
        self._profile = None
        users = next((name for name in USERS_OWN if os.environ.get(name)), None)
        rmw = rclpy.get_rmw_implementation_identifier()
        if address and (users or rmw != FAST_DDS):
            found = f"{users} is set, which says its own" if users else f"it is not known how to give one to {rmw}"
            raise Refused(
                f"rclpy: address {address}: {found}; expected {FAST_DDS} with {' and '.join(USERS_OWN)} unset"
            )
        if users or rmw != FAST_DDS:
            os.environ[RANGE] = "LOCALHOST"
            return
        # Fast DDS finds peers by multicast on its interfaces, because the range LOCALHOST of rmw_fastrtps would find at
        # most 32.
        os.environ[RANGE] = "SYSTEM_DEFAULT"
        transports = ["udp"] if address else ["shm", "udp"]
        with tempfile.NamedTemporaryFile("w", prefix="tacho-fastdds-", suffix=".xml", delete=False) as file:
            ids = "".join(f"<transport_id>{name}</transport_id>" for name in transports)
            file.write(PROFILE.format(address=address or "127.0.0.1", transports=ids))
        self._profile = os.environ[PROFILES] = file.name

    def read(self):
        """The first node was made, or none will be, so the profile is no longer needed."""
        if self._profile:
            os.unlink(self._profile)
            os.environ.pop(PROFILES)
            self._profile = None
