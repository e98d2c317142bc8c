"""Which network rclpy uses. Set before rclpy.init, which reads it from the environment."""

import os


def set_up(address: str):
    """"": discovery and traffic stay on this machine: a measurement must not disturb, nor be disturbed by, a vehicle network."""
    if not address:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        return
    raise NotImplementedError
