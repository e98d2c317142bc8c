"""The state that the nodes of a process share: rclpy's context, and so one participant, and its domain."""

import os

import rclpy
from rclpy.signals import SignalHandlerOptions

from tacho_rclpy import executors
from tacho_rclpy.network import Network
from tacho_rclpy.node import BenchNode


class Session:
    """Opens rclpy and makes the nodes of a plan; closes both."""

    def __init__(self, plan: dict):
        executor = executors.chosen(plan["transport"])
        network = Network(plan["address"])
        self.nodes: list[BenchNode] = []
        try:
            os.environ["TACHO_EVENTS_RCLPY"] = "off"  # a node of ours reports its callbacks itself
            rclpy.init(args=[], domain_id=plan["domain"], signal_handler_options=SignalHandlerOptions.NO)
            for node in plan["nodes"]:
                self.nodes.append(BenchNode(node, executor, plan["clock"] is not None, plan["libraries"]))
        except BaseException:
            self.close()
            raise
        finally:
            network.read()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            node.destroy()
        self.nodes.clear()
        rclpy.try_shutdown()
