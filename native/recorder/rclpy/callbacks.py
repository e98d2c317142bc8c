# SPDX-License-Identifier: Apache-2.0
"""Reports callbacks of rclpy to the recorder, which runs this file in the interpreter of a program that calls
rclpy.init.

A subscription, timer, service or guard condition keeps the function it was given as its attribute `callback`. Every
executor calls it from there, including the events executor in C++ (Humble to Rolling). This file turns that attribute
into a property, which wraps the callback so that its start and end are reported. Of the rest of rclpy, it replaces only
what assigns timers to nodes, callbacks to groups and responses to callbacks, and what waits.

`start`, `end`, `waiting`, `ready` and `put` are functions of the recorder (hook.c). If something fails here, rclpy
stays as it was, and the failure is reported.
"""

import functools
import inspect
import operator
import sys
import types

# Kinds of events.h.
RCLCPP_SUBSCRIPTION_INIT, RCLCPP_SUBSCRIPTION_CALLBACK_ADDED = 26, 27
RCLCPP_SERVICE_CALLBACK_ADDED = 32
RCLCPP_TIMER_CALLBACK_ADDED, RCLCPP_TIMER_LINK_NODE, RCLCPP_CALLBACK_REGISTER = 40, 41, 42
RCLCPP_CALLBACK_GROUP_ADD = 155
RCLPY_CALLBACKS, RCLPY_COROUTINE, RCLPY_CLIENT_CALLBACK_ADDED, RCLPY_RESPONSE, RCLPY_ACTION_CALLBACK = (
    135,
    136,
    137,
    138,
    139,
)


def not_recorded(error):
    put(RCLPY_CALLBACKS, f"{type(error).__name__}: {error}")


def symbol(callback):
    """Returns the qualified name of a callback, and where it is defined."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    callback = inspect.unwrap(callback)
    if not hasattr(callback, "__qualname__"):
        callback = type(callback).__call__
    name = callback.__qualname__
    code = getattr(callback, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


# For functions that are passed anew with each call: the object whose address stands for all these callbacks.
stands_for = {}


def told(callback, tie, begins=None, again=None):
    """Wraps a callback so that its start and end are reported. `tie` reports what the callback belongs to, by its
    address. `begins` is called with the callback's first argument, and reports what the next start is for. `again` is
    the owner of a function that is passed anew with each call."""
    callback = getattr(callback, "_tacho_callback", callback)
    name = symbol(callback)
    if inspect.iscoroutinefunction(callback):

        async def call(*arguments, **named):
            return await in_parts(
                callback(*arguments, **named), address, begins and functools.partial(begins, arguments[0])
            )

    else:

        def call(*arguments, **named):
            if begins:
                begins(arguments[0])
            start(address)
            try:
                return callback(*arguments, **named)
            finally:
                end(address)

    functools.update_wrapper(call, callback, updated=())
    call._tacho_callback = callback
    new = again is None or (again, name) not in stands_for
    address = id(call if again is None else stands_for.setdefault((again, name), object()))
    if new:
        put(RCLCPP_CALLBACK_REGISTER, name, address)
    tie(address)
    return call


@types.coroutine
def in_parts(coroutine, callback, begins):
    """Drives a coroutine as `await` does (PEP 380) and reports each part of it. Executors resume a coroutine at any
    wake-up, even if what it awaits is not there. It then continues to wait, and this is not reported as a part.
    `begins` reports what the first part is for."""
    task, part, step, argument, future = id(coroutine), 0, coroutine.send, None, None
    while True:
        tells = future is None or future.done() or future.cancelled()
        if tells:
            if begins:
                begins()
                begins = None
            responded(future)
            put(RCLPY_COROUTINE, None, task, part)
            start(callback)
            part += 1
        try:
            yielded = step(argument)
        except StopIteration as over:
            return over.value
        finally:
            if tells:
                end(callback)
        try:
            step, argument = coroutine.send, (yield yielded)
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            step, argument = coroutine.throw, error
        future = awaited(coroutine)


def awaited(coroutine):
    """Returns the rclpy future that a suspended coroutine awaits, directly or through other coroutines."""
    below = coroutine
    while (next_below := getattr(below, "cr_await", None) or getattr(below, "gi_yieldfrom", None)) is not None:
        below = next_below
    if getattr(below, "gi_code", None) is not Future.__await__.__code__ or below.gi_frame is None:
        return None
    return below.gi_frame.f_locals["self"]


def responded(future):
    """If this is the future of a response, reports that the callback which starts next handles that response."""
    response = getattr(future, "_tacho_response", None)
    if response:
        put(RCLPY_RESPONSE, None, *response)
    goal = getattr(future, "_tacho_goal", None)
    if goal:
        of_goal(*goal)


# Roles of an action's callbacks, from events.h.
ON_GOAL, ON_ACCEPTED, EXECUTE, ON_CANCEL, ON_GOAL_RESPONSE, ON_FEEDBACK, ON_RESULT, ON_CANCEL_RESPONSE = range(1, 9)


def of_goal(role, goal):
    """Reports what the callback which starts next is for. If the goal is not accepted yet, rclpy does not pass its
    id."""
    uuid = bytes(16) if role == ON_GOAL else bytes(goal.goal_id.uuid)
    put(RCLPY_ACTION_CALLBACK, None, int.from_bytes(uuid[:8], "little"), int.from_bytes(uuid[8:], "little"), role)


def no_tie(address):
    """The tie of an action's callback is empty, because what it belongs to is reported when it starts."""


def told_of_goal(callback, role, action):
    """Wraps `callback`, or returns it unchanged if it is rclpy's own or already wrapped."""
    if callback is None or hasattr(callback, "_tacho_callback") or is_of_rclpy(callback):
        return callback
    try:
        return told(callback, no_tie, functools.partial(of_goal, role), (role, id(action)))
    except Exception as error:
        not_recorded(error)
        return callback


# The attributes in which an action server keeps its callbacks, and the methods that set them.
OF_SERVER = {
    "_goal_callback": (ON_GOAL, "register_goal_callback"),
    "_handle_accepted_callback": (ON_ACCEPTED, "register_handle_accepted_callback"),
    "_execute_callback": (EXECUTE, "register_execute_callback"),
    "_cancel_callback": (ON_CANCEL, "register_cancel_callback"),
}


def tell_of_server(_, server, *given):
    for attribute, (role, _) in OF_SERVER.items():
        callback = getattr(server, attribute, None)
        if callback is not None:
            setattr(server, attribute, told_of_goal(callback, role, server))


def executes(method):
    """Wraps a method that may be given a callback to execute a goal."""

    @functools.wraps(method)
    def notify_execute(server, goal_handle, execute_callback):
        return method(server, goal_handle, told_of_goal(execute_callback, EXECUTE, server))

    return notify_execute


def sends_goal(method):
    @functools.wraps(method)
    def send_goal_async(client, goal, feedback_callback=None, goal_uuid=None):
        if goal_uuid is None:
            goal_uuid = client._generate_random_uuid()
        future = method(client, goal, told_of_goal(feedback_callback, ON_FEEDBACK, client), goal_uuid)
        goal_asked(ON_GOAL_RESPONSE, future, client, types.SimpleNamespace(goal_id=goal_uuid))
        return future

    return send_goal_async


def goal_asked(role, future, client, goal_handle):
    future._tacho_goal = (role, goal_handle)
    future._tacho_client = id(client)


def hook_actions(_, node, waitable):
    """Called when an action client or server was made. Only then is rclpy.action loaded, and most programs never load
    it."""
    action = sys.modules.get("rclpy.action")
    if action is None:
        return
    if not hasattr(action.ActionServer.notify_execute, "__wrapped__"):
        replaced.put(action.ActionServer, "notify_execute", executes(action.ActionServer.notify_execute))
        for _, method in OF_SERVER.values():
            replaced.after(action.ActionServer, method, tell_of_server)
        replaced.put(action.ActionClient, "send_goal_async", sends_goal(action.ActionClient.send_goal_async))
        replaced.after(action.ActionClient, "_get_result_async", functools.partial(goal_asked, ON_RESULT))
        replaced.after(action.ActionClient, "_cancel_goal_async", functools.partial(goal_asked, ON_CANCEL_RESPONSE))
    if isinstance(waitable, action.ActionServer):
        tell_of_server(None, waitable)


class Replaced:
    """Keeps what was replaced, so that it can be restored."""

    def __init__(self):
        self._before = []

    def put(self, owner, name, new):
        self._before.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, new)

    def after(self, owner, name, tell):
        """`tell` is called with the result of the method and with its arguments."""
        method = getattr(owner, name)

        @functools.wraps(method)
        def call(*arguments, **named):
            result = method(*arguments, **named)
            try:
                tell(result, *arguments)
            except Exception as error:
                not_recorded(error)
            return result

        self.put(owner, name, call)

    def back(self):
        for owner, name, before in reversed(self._before):
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def keeps_callback(owner, tie):
    """Makes the property `callback` for a class of entities. `tie(entity, address)` reports what a callback belongs
    to."""
    below = inspect.getattr_static(owner, "callback", None)
    # The getter runs no Python code. It reads an attribute, because a program that asks for __dict__ makes every
    # attribute of the entity slower.
    get = operator.attrgetter("_tacho_kept") if below is None else below.__get__

    def keep(entity, callback):
        if callable(callback):
            try:
                callback = told(callback, functools.partial(tie, entity))
            except Exception as error:
                not_recorded(error)
        if below is None:
            entity._tacho_kept = callback
        else:
            below.__set__(entity, callback)

    return property(get, keep)


def of_subscription(subscription, callback):
    put(RCLCPP_SUBSCRIPTION_INIT, None, subscription.handle.pointer, callback)
    put(RCLCPP_SUBSCRIPTION_CALLBACK_ADDED, None, callback, callback)


def of_timer(timer, callback):
    put(RCLCPP_TIMER_CALLBACK_ADDED, None, timer.handle.pointer, callback)


def of_service(service, callback):
    put(RCLCPP_SERVICE_CALLBACK_ADDED, None, service.handle.pointer, callback)


def of_client(client, callback):
    put(RCLPY_CLIENT_CALLBACK_ADDED, None, client, callback)


def of_guard_condition(guard_condition, callback):
    """A guard condition has no event of its own, so only the name of its callback is reported."""


def timer_created(timer, node, *_):
    put(RCLCPP_TIMER_LINK_NODE, None, timer.handle.pointer, node.handle.pointer)


def joins_group(_, group, entity):
    callback = getattr(entity, "callback", None)
    what = next((number for kind, number in MEMBERS if isinstance(entity, kind)), None)
    if what and hasattr(callback, "_tacho_callback"):
        is_exclusive = isinstance(group, MutuallyExclusiveCallbackGroup)
        put(RCLCPP_CALLBACK_GROUP_ADD, None, id(group), id(callback), what, int(is_exclusive))


def request_sent(future, client, *_):
    future._tacho_client = client.handle.pointer


def response_taken(future, client, sequence_number):
    """Marks the future of a response that an executor has just taken."""
    future._tacho_response = (client.handle.pointer, sequence_number)


def is_of_rclpy(callback):
    return (getattr(callback, "__module__", None) or "").startswith("rclpy.")


def adds_done_callback(method):
    @functools.wraps(method)
    def add_done_callback(future, callback):
        client, role = getattr(future, "_tacho_client", None), getattr(future, "_tacho_goal", (None,))[0]
        # rclpy's own callbacks wake executors and forget requests; these are not wrapped.
        if client and not is_of_rclpy(callback):
            try:
                tie = no_tie if role else functools.partial(of_client, client)
                callback = told(callback, tie, responded, (role, client))
            except Exception as error:
                not_recorded(error)
        return method(future, callback)

    return add_done_callback


def removes_done_callback(method):
    @functools.wraps(method)
    def remove_done_callback(future, callback):
        kept = (kept for kept in tuple(future._callbacks) if getattr(kept, "_tacho_callback", None) == callback)
        return method(future, next(kept, callback))

    return remove_done_callback


def waits(method):
    @functools.wraps(method)
    def wait(wait_set, timeout_ns):
        waiting(timeout_ns)
        try:
            return method(wait_set, timeout_ns)
        finally:
            ready()

    return wait


replaced = Replaced()
try:
    from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
    from rclpy.client import Client
    from rclpy.guard_condition import GuardCondition
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.node import Node
    from rclpy.service import Service
    from rclpy.subscription import Subscription
    from rclpy.task import Future
    from rclpy.timer import Timer

    MEMBERS = ((Subscription, 1), (Timer, 2), (Service, 3))  # of a callback group, by their numbers in events.h
    for entity, of_entity in (
        (Subscription, of_subscription),
        (Timer, of_timer),
        (Service, of_service),
        (GuardCondition, of_guard_condition),
    ):
        replaced.put(entity, "callback", keeps_callback(entity, of_entity))
    replaced.after(Node, "create_timer", timer_created)
    replaced.after(CallbackGroup, "add_entity", joins_group)
    replaced.after(Client, "call_async", request_sent)
    replaced.after(Client, "get_pending_request", response_taken)
    replaced.put(Future, "add_done_callback", adds_done_callback(Future.add_done_callback))
    if hasattr(Future, "remove_done_callback"):  # from Jazzy on
        replaced.put(Future, "remove_done_callback", removes_done_callback(Future.remove_done_callback))
    replaced.after(Node, "add_waitable", hook_actions)
    replaced.put(rclpy_implementation.WaitSet, "wait", waits(rclpy_implementation.WaitSet.wait))
    put(RCLPY_CALLBACKS, "")
except Exception as error:
    replaced.back()
    not_recorded(error)
