"""rclpy nodes around an action, whose callbacks note the clock at their first and last line:
`starter -> /start -> asker -> action /count of counter -> asker -> /done -> finisher`.

usage: action_nodes.py EXECUTOR NODE...    EXECUTOR: single, multi, events; NODE: starter, asker, counter, finisher

A goal asks to count to N, 4 ms a step, with feedback after each. GOALS says how each one is to end; one that is to be canceled counts until it is. Ends when all of them have, and prints
"told <name> <number of the goal> <ns>..." (CLOCK_MONOTONIC).
"""

import itertools
import sys
import time

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from spinning import spin_until
from std_msgs.msg import Int32
from tacho_test_interfaces.action import Count

GOALS = ["succeed"] * 8 + ["reject", "abort", "cancel"]
STEPS = 5
executor_name, names = sys.argv[1], sys.argv[2:]
done = rclpy.task.Future()
told = []


def now():
    return time.monotonic_ns()


def tell(name, number, *times):
    told.append((name, number, *times))


class Starter(Node):
    def __init__(self):
        super().__init__("starter")
        self.publisher = self.create_publisher(Int32, "/start", 20)
        self.create_timer(0.04, self.on_timer)
        self.next = 0

    def on_timer(self):
        if self.next < len(GOALS) and self.publisher.get_subscription_count():
            began = now()
            self.publisher.publish(Int32(data=self.next))
            tell("on_timer", self.next, began, now())
            self.next += 1


class Asker(Node):
    def __init__(self):
        super().__init__("asker")
        self.ended = self.create_publisher(Int32, "/ended", 20)
        self.done = self.create_publisher(Int32, "/done", 20)
        self.action = ActionClient(self, Count, "count", callback_group=ReentrantCallbackGroup())
        self.waiting = self.create_timer(0.01, self.on_server)

    def on_server(self):
        # Nothing is asked for before those are there who are to hear of its end.
        if self.action.server_is_ready() and self.ended.get_subscription_count() and self.done.get_subscription_count():
            self.waiting.cancel()
            self.create_subscription(Int32, "/start", self.on_start, 20)

    def on_start(self, message):
        number = message.data
        goal, sent = Count.Goal(until=STEPS, how=f"{GOALS[number]} {number}"), now()
        future = self.action.send_goal_async(goal, feedback_callback=lambda of: self.on_feedback(number, of))
        future.add_done_callback(lambda of: self.on_response(number, of))
        tell("sent", number, sent, now())

    def on_response(self, number, future):
        tell("response", number, now())
        goal = future.result()
        if not goal.accepted:
            self.end(number)
            return
        goal.get_result_async().add_done_callback(lambda of: self.on_result(number, of))
        if GOALS[number] == "cancel":
            goal.cancel_goal_async().add_done_callback(lambda of: tell("canceling", number, now()))

    def on_feedback(self, number, message):
        tell("feedback", number, message.feedback.so_far, now())

    def on_result(self, number, future):
        began = now()
        if future.result().status == GoalStatus.STATUS_SUCCEEDED:
            self.done.publish(Int32(data=number))
        self.end(number)
        tell("result", number, began, now())

    def end(self, number):
        self.ended.publish(Int32(data=number))


class Counter(Node):
    def __init__(self):
        super().__init__("counter")
        self.server = ActionServer(
            self,
            Count,
            "count",
            self.on_execute,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self.server.register_goal_callback(self.on_goal)  # in place of rclpy's own, which accepts all
        self.waiting = []
        self.create_timer(0.004, self.on_tick, callback_group=ReentrantCallbackGroup())

    def on_tick(self):
        waiting, self.waiting = self.waiting, []
        for tick in waiting:
            tick.set_result(None)

    def on_goal(self, goal):
        return GoalResponse.REJECT if goal.how.startswith("reject") else GoalResponse.ACCEPT

    async def on_execute(self, goal):
        how, number = goal.request.how.split()
        began = part = now()
        worked, result = 0, Count.Result()
        for step in itertools.count(1) if how == "cancel" else range(1, goal.request.until + 1):
            while now() < part + 1_000_000:
                pass
            sent = now()
            goal.publish_feedback(Count.Feedback(so_far=step))
            tell("publish", number, step, sent, now())
            tick = rclpy.task.Future()
            self.waiting.append(tick)
            worked += now() - part
            await tick
            part = now()
            if goal.is_cancel_requested:
                goal.canceled()
                break
        else:
            result.reached = step
            goal.abort() if how == "abort" else goal.succeed()
        end = now()
        tell("execute", number, began, end, worked + end - part)
        return result


class Finisher(Node):
    def __init__(self):
        super().__init__("finisher")
        self.ended = 0
        self.create_subscription(Int32, "/done", self.on_done, 20)
        self.create_subscription(Int32, "/ended", self.on_ended, 20)

    def on_done(self, message):
        tell("on_done", message.data, now())

    def on_ended(self, message):
        self.ended += 1
        if self.ended == len(GOALS):
            done.set_result(None)


rclpy.init()
kinds = {"starter": Starter, "asker": Asker, "counter": Counter, "finisher": Finisher}
nodes = [kinds[name]() for name in names]
spin_until(done, executor_name, nodes)
for line in told:
    print("told", *line)
