# SPDX-License-Identifier: Apache-2.0
"""Callbacks of rclpy, told to the recorder, which runs this in the interpreter of a program that calls rclpy.init.

A subscription, timer, service or guard condition keeps what it was given as its attribute `callback`, and every executor, the
events executor in C++ too, calls it from there (Humble to Rolling). That attribute becomes a property which keeps the callback
with its start and end told. Nothing else of rclpy is replaced but what ties timers to nodes and responses to callbacks, and what waits.

`start`, `end`, `waiting`, `ready` and `put` are functions of the recorder (hook.c). What fails here leaves rclpy as it was, and is told.
"""

import functools
import inspect
import operator
import types

# Of events.h.
RCLCPP_SUBSCRIPTION_INIT, RCLCPP_SUBSCRIPTION_CALLBACK_ADDED = 26, 27
RCLCPP_SERVICE_CALLBACK_ADDED = 32
RCLCPP_TIMER_CALLBACK_ADDED, RCLCPP_TIMER_LINK_NODE, RCLCPP_CALLBACK_REGISTER = 40, 41, 42
RCLPY_CALLBACKS, RCLPY_COROUTINE, RCLPY_CLIENT_CALLBACK_ADDED, RCLPY_RESPONSE = 135, 136, 137, 138


def not_recorded(error):
    put(RCLPY_CALLBACKS, f"{type(error).__name__}: {error}")


def symbol(callback):
    """Qualified name, and where it is defined."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    callback = inspect.unwrap(callback)
    if not hasattr(callback, "__qualname__"):
        callback = type(callback).__call__
    name = callback.__qualname__
    code = getattr(callback, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def told(callback, tie, of_response=False):
    """The callback with its start and end told. `tie` tells what it belongs to, by its address. `of_response`: its argument is the future
    of a response."""
    callback = getattr(callback, "_tacho_callback", callback)
    if inspect.iscoroutinefunction(callback):

        async def call(*arguments, **named):
            future = arguments[0] if of_response else None
            return await in_parts(callback(*arguments, **named), address, future)

    else:

        def call(*arguments, **named):
            if of_response:
                responded(arguments[0])
            start(address)
            try:
                return callback(*arguments, **named)
            finally:
                end(address)

    address = id(call)
    functools.update_wrapper(call, callback, updated=())
    call._tacho_callback = callback
    put(RCLCPP_CALLBACK_REGISTER, symbol(callback), address)
    tie(address)
    return call


@types.coroutine
def in_parts(coroutine, callback, future):
    """Drives a coroutine as `await` does (PEP 380), each part of it told. Executors resume one at any wake-up, whether or not what it
    awaits is there: then it goes on waiting, and that is no part of it. `future`: what it begins with."""
    task, part, step, argument = id(coroutine), 0, coroutine.send, None
    while True:
        tells = future is None or future.done() or future.cancelled()
        if tells:
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
    """The future of rclpy that a suspended coroutine awaits, through whatever coroutines lie between."""
    below = coroutine
    while (next_below := getattr(below, "cr_await", None) or getattr(below, "gi_yieldfrom", None)) is not None:
        below = next_below
    if getattr(below, "gi_code", None) is not Future.__await__.__code__ or below.gi_frame is None:
        return None
    return below.gi_frame.f_locals["self"]


def responded(future):
    """Tells that the callback which starts next handles the response of a future, where it is one."""
    response = getattr(future, "_tacho_response", None)
    if response:
        put(RCLPY_RESPONSE, None, *response)


class Replaced:
    """What was replaced, to be put back."""

    def __init__(self):
        self._before = []

    def put(self, owner, name, new):
        self._before.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, new)

    def after(self, owner, name, tell):
        """`tell` is called with what the method returned and with its arguments."""
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
    """The property `callback` of a class of entities. `tie(entity, address)` tells what a callback belongs to."""
    below = inspect.getattr_static(owner, "callback", None)
    # Read without a line of Python; and as an attribute, since whoever asks for __dict__ makes each attribute of the entity slower.
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


def of_guard_condition(guard_condition, callback):
    """It has no event of its own: its callback has a name alone."""


def timer_created(timer, node, *_):
    put(RCLCPP_TIMER_LINK_NODE, None, timer.handle.pointer, node.handle.pointer)


def request_sent(future, client, *_):
    future._tacho_client = client.handle.pointer


def response_taken(future, client, sequence_number):
    """An executor asked for the future of a response that it has taken."""
    future._tacho_response = (client.handle.pointer, sequence_number)


def adds_done_callback(method):
    @functools.wraps(method)
    def add_done_callback(future, callback):
        client = getattr(future, "_tacho_client", None)
        # rclpy's own wake executors and forget requests.
        if client and not (getattr(callback, "__module__", None) or "").startswith("rclpy."):
            try:
                callback = told(callback, lambda address: put(RCLPY_CLIENT_CALLBACK_ADDED, None, client, address), of_response=True)
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
    from rclpy.client import Client
    from rclpy.guard_condition import GuardCondition
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.node import Node
    from rclpy.service import Service
    from rclpy.subscription import Subscription
    from rclpy.task import Future
    from rclpy.timer import Timer

    for entity, of_entity in (
        (Subscription, of_subscription), (Timer, of_timer), (Service, of_service), (GuardCondition, of_guard_condition)
    ):
        replaced.put(entity, "callback", keeps_callback(entity, of_entity))
    replaced.after(Node, "create_timer", timer_created)
    replaced.after(Client, "call_async", request_sent)
    replaced.after(Client, "get_pending_request", response_taken)
    replaced.put(Future, "add_done_callback", adds_done_callback(Future.add_done_callback))
    if hasattr(Future, "remove_done_callback"):  # from Jazzy on
        replaced.put(Future, "remove_done_callback", removes_done_callback(Future.remove_done_callback))
    replaced.put(rclpy_implementation.WaitSet, "wait", waits(rclpy_implementation.WaitSet.wait))
    put(RCLPY_CALLBACKS, "")
except Exception as error:
    replaced.back()
    not_recorded(error)
