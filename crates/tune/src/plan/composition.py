"""Nodes that share a process, for ROS 2 launch files.

from composition import containers
nodes = {"NAME": ComposableNode(package=..., plugin=..., name="NAME"), ...}
LaunchDescription(containers(nodes))
"""

from launch_ros.actions import ComposableNodeContainer

# By process: its container and its nodes.
PROCESSES = {}


def containers(nodes):
    """Returns an action for each process. `nodes`: the ComposableNode of each node, by its name."""
    return [
        ComposableNodeContainer(
            name=process,
            namespace="",
            package="rclcpp_components",
            executable=executable,
            composable_node_descriptions=[nodes[name] for name in names],
        )
        for process, (executable, names) in PROCESSES.items()
    ]
