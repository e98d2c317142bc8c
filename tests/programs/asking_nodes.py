"""A planner that asks a router for each plan, ordinary rclpy nodes: `timer -> route request -> route response -> /plan -> control`.

usage: asking_nodes.py planner callback|coroutine|wait SECONDS
       asking_nodes.py display|router|control

The planner ends after so many seconds, the others when they get a signal: they must outlive it.

The planner prepares for 2 ms, the router takes 5 ms, and planning takes 20 ms: in a callback of the response, in a coroutine that awaits it,
or in the timer's callback, which waits. The display asks the router now and then.
"""

import os
import sys
import threading
import time

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String


class Planner(Node):
    def __init__(self, how):
        super().__init__("planner")
        self.publisher = self.create_publisher(String, "plan", 10)
        self.router = self.create_client(GetParameters, "route", callback_group=MutuallyExclusiveCallbackGroup())
        self.router.wait_for_service()
        self.create_timer(0.05, {"callback": self.ask, "coroutine": self.ask_and_await, "wait": self.ask_and_wait}[how])

    def ask(self):
        time.sleep(0.002)
        self.router.call_async(GetParameters.Request()).add_done_callback(self.plan)

    async def ask_and_await(self):
        time.sleep(0.002)
        self.plan(await self.router.call_async(GetParameters.Request()))

    def ask_and_wait(self):
        time.sleep(0.002)
        self.plan(self.router.call(GetParameters.Request()))

    def plan(self, route):
        time.sleep(0.02)
        self.publisher.publish(String(data="plan"))


class Display(Node):
    def __init__(self):
        super().__init__("display")
        self.router = self.create_client(GetParameters, "route")
        self.router.wait_for_service()
        self.create_timer(0.25, lambda: self.router.call_async(GetParameters.Request()))


class Router(Node):
    def __init__(self):
        super().__init__("router")
        self.create_service(GetParameters, "route", self.route)

    def route(self, request, response):
        time.sleep(0.005)
        return response


class Control(Node):
    def __init__(self):
        super().__init__("control")
        self.create_subscription(String, "plan", lambda plan: None, 10)


# rclpy may lose the wake-up of its own shutdown, and a callback that waits for a response keeps it from ending. So a signal
# ends a process by itself, and the planner ends without taking anything down.
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
role, *options = sys.argv[1:]
node = {"planner": Planner, "display": Display, "router": Router, "control": Control}[role](*options[:1])
# A callback that takes no time may wait for half a second on rclpy's multi-threaded executor.
executor = SingleThreadedExecutor() if role == "control" else MultiThreadedExecutor(2)
executor.add_node(node)
if role == "planner":
    threading.Timer(float(options[1]), os._exit, [0]).start()
executor.spin()
