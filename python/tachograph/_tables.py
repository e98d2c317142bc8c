"""The tables of a run, a method each. Written by `python/generate` from docs/tables.md."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Tables(ABC):
    """Reads tables. Every method takes `names` and `columns` as `table` does."""

    @abstractmethod
    def table(self, name: str, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads the table of this name."""

    def processes(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a process that wrote events.

        Columns:
            row_id (uint32): Number of the row, from 0.
            pid (uint32): Process id on its host.
            executable (text): Executable, as a path.
            command (text): Command line.
            host (text): Host name.
            clock (uint32, or absent): Its clock, a `row_id` of table `clocks`; absent if there is one clock only.
            events (uint64): Events read.
            dropped_events (uint64): Events the recorder could not write.
            ended (boolean, or absent): Whether it ended in order; false for a process that was killed or still
                runs, absent if nothing shows it (an imported trace).
            first_ns (int64, ns): First and last event.
            last_ns (int64, ns): See `first_ns`.
            board (text, or absent): The microcontroller that it is, `emulated ...` if it is no hardware; absent: a
                process of this machine.
            clock_error_ns (int64, ns, or absent): How far times of a board may be off, once related to this
                machine's clock; absent where they could not be related.
        """
        return self.table("processes", names=names, columns=columns)

    def nodes(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a node.

        Columns:
            row_id (uint32): Number of the row, from 0.
            process (row of processes): Its process.
            name (text): Name with namespace, `/localisation/ndt`.
        """
        return self.table("nodes", names=names, columns=columns)

    def endpoints(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a publisher or subscription.

        Columns:
            row_id (uint32): Number of the row, from 0.
            node (row of nodes): Its node.
            kind (text): `publisher`, `subscription`.
            topic (text): Topic.
            message_type (text, or absent): Type of its messages, `std_msgs/msg/String`, where it is known.
            depth (uint64, or absent): Queue depth, where it is known; absent if it keeps all.
            reliable (boolean, or absent): Reliable or best effort; known, as the two that follow, of ROS 2 that
                tacho recorded.
            transient_local (boolean, or absent): Transient local or volatile.
            keep_all (boolean, or absent): Keep all, or keep the last `depth`.
            created_ns (int64, ns): When it was made.
            count (uint64): Publish calls, or messages taken.
            skipped (uint64, or absent): Sends that were due by the clock and did not happen; known only for nodes
                that tacho runs, where something is due.
            refused (uint64, or absent): Publish calls that failed, not among those of `count`; known only for
                publishers of nodes that tacho runs on a host.
            pending (uint64, or absent): Messages sent to a subscription that it neither took nor lost, as it may
                have taken them later. Absent, as the three that follow, for publishers and for subscriptions of ROS
                1, whose events show losses themselves.
            before (uint64, or absent): Those sent before the two were matched.
            after (uint64, or absent): Those sent after its executor had ended.
            unknown (uint64, or absent): Those of which nothing is known: the two never exchanged a message, or
                events were lost.
            linked (boolean, or absent): Whether most messages of a subscription are linked to their publications;
                if not, its losses are not known. Absent for publishers.
        """
        return self.table("endpoints", names=names, columns=columns)

    def callbacks(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a callback (a subscription's, a timer's, a service's).

        Columns:
            row_id (uint32): Number of the row, from 0.
            process (row of processes): Its process.
            address (uint64): Its address, as ros2_tracing names it; the lowest 4 bytes if its registration was not
                recorded.
            kind (text): What it answers to. `subscription`, `timer`, `service`, `client`, `action`, `unknown`.
            node (row of nodes, or absent): Its node.
            topic (text, or absent): Topic of its subscription, or service.
            period_ns (int64, ns, or absent): Period of its timer.
            armed_ns (int64, ns, or absent): When its timer was made: its period counts from then on, unless it was
                reset. Timers of nodes that tacho runs have a phase instead.
            symbol (text, or absent): What it was registered as, word for word.
            function (text, or absent): Its function, as its symbol has it: qualified, without arguments
                ([figures](figures.md#callbacks)).
            location (text, or absent): Where that is defined, `file:line`, if the symbol says it (rclpy).
            callback_group (uint32, or absent): Number of its callback group, from 0 in the run, if it is known.
            reentrant (boolean, or absent): Whether callbacks of that group may run beside each other; otherwise
                they exclude each other.
        """
        return self.table("callbacks", names=names, columns=columns)

    def executions(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row an execution of a callback.

        Columns:
            row_id (uint32): Number of the row, from 0.
            callback (row of callbacks): Its callback.
            tid (uint32): Thread it ran on.
            queued_ns (int64, ns, or absent): When it was put into its callback queue; known for timers and services
                of ROS 1. Of a subscription's, its message's arrival says so.
            start_ns (int64, ns): Callback_start.
            end_ns (int64, ns, or absent): Callback_end; absent where the process ended inside.
            cpu_ns (int64, ns, or absent): CPU time of the thread from start to end: wall time less its time off the
                CPU where scheduler events were recorded, else by its CPU-time clock where that was; absent where
                neither was.
            runnable_ns (int64, ns, or absent): Time from start to end in which the thread was ready to run and had
                no CPU: by scheduler events where these were recorded, else by the kernel's run delay of the thread,
                at most its time off the CPU; absent where neither was.
            executor_cpu_ns (int64, ns, or absent): CPU time of the thread from the end of the callback before it to
                its start: what executor and client library computed, by the thread's CPU-time clock; absent where
                that was not read at both.
            executor_runnable_ns (int64, ns, or absent): Of the same time, for how long the thread was ready to run
                and had no CPU, by the kernel's run delay; absent where that was not read at both.
            resumes (row of executions, or absent): The part before, if a coroutine awaited something and goes on.
        """
        return self.table("executions", names=names, columns=columns)

    def publications(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a publish call that was due inside the measured window; made inside it, where it is not known when
        it was due.

        Columns:
            row_id (uint32): Number of the row, from 0.
            publisher (row of endpoints): Its publisher.
            publish_ns (int64, ns): Just before the publish call (outermost layer seen).
            due_ns (int64, ns, or absent): When the call was due by its rate and phase; known only for nodes that
                tacho runs, where something is due by the clock.
            sequence (uint64, or absent): Sequence number, where the message carries one.
            size_bytes (uint64, bytes, or absent): Data of the message, of nodes that tacho runs; otherwise its size
                when serialised, known for the first message of a publisher, and for one in 8.
            execution (row of executions, or absent): The execution that published it; absent outside of callbacks.
        """
        return self.table("publications", names=names, columns=columns)

    def messages(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a message and subscription that should have got it.

        Columns:
            row_id (uint32): Number of the row, from 0.
            publisher (row of endpoints, or absent): Its publisher; absent if that was not recorded.
            subscription (row of endpoints): Its subscription.
            sequence (uint64, or absent): Sequence number of its publisher, where the message carries one.
            publish_ns (int64, ns, or absent): Just before the publish call (outermost layer seen).
            arrival_ns (int64, ns, or absent): When the middleware said that it was there.
            take_ns (int64, ns, or absent): When it was taken.
            callback_ns (int64, ns, or absent): First line of the callback.
            execution (row of executions, or absent): The execution that took it.
            published_in (row of executions, or absent): The execution that published it.
            delivery (text): Against its deadline. `in_time`, `late`, `taken`, `lost`.
            lost_in (text, or absent): Where it was lost; absent for one that was not, and if the events do not show
                it. `publisher_queue`, `transport`, `subscription_queue`.
            emulated (boolean): An end of it was on an emulated board: between its times lies emulated time, so it
                has no latency.
        """
        return self.table("messages", names=names, columns=columns)

    def layers(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a message that was taken and did not stay inside its process's client library: its latency by
        layers.

        Columns:
            row_id (uint32): Number of the row, from 0.
            message (row of messages): Its message.
            publish_client_library_ns (int64, ns, or absent): Publish call of the application to rcl_publish.
            publish_rcl_ns (int64, ns, or absent): To the call of rmw_publish.
            publish_rmw_ns (int64, ns, or absent): To the event rmw_publish: the middleware's write call.
            publish_dds_ns (int64, ns, or absent): To dds_send: serialisation, history, handed to the transport for
                the first of its readers.
            transport_ns (int64, ns, or absent): To dds_receive: the subscriber's process has the whole message.
            receive_dds_ns (int64, ns, or absent): To dds_data_available, or node_data_available: the reader has it.
            executor_ns (int64, ns, or absent): To the call of rmw_take, else to rclcpp_executor_execute: waking,
                and waiting for other callbacks.
            take_rmw_ns (int64, ns, or absent): To the event rmw_take, else to the take: reading from the DDS,
                deserialisation.
            take_rcl_ns (int64, ns, or absent): To rcl_take.
            take_client_library_ns (int64, ns, or absent): To the first line of the callback.
        """
        return self.table("layers", names=names, columns=columns)

    def services(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a service call, those of actions too, of which any part was recorded.

        Columns:
            row_id (uint32): Number of the row, from 0.
            service (text): Name of the service; empty where neither its client's nor its server's creation was
                recorded.
            client (row of nodes, or absent): Its client.
            server (row of nodes, or absent): Its server.
            sequence (int64): Number of the request among those of its client.
            request_ns (int64, ns, or absent): Rmw_send_request.
            request_taken_ns (int64, ns, or absent): Rmw_take_request.
            response_ns (int64, ns, or absent): Rmw_send_response.
            response_taken_ns (int64, ns, or absent): Rmw_take_response.
            execution (row of executions, or absent): The execution that handled it.
            requested_in (row of executions, or absent): The execution that sent the request.
            response_taken_in (row of executions, or absent): The execution that took the response, or went on with
                it.
        """
        return self.table("services", names=names, columns=columns)

    def goals(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a goal of an action.

        Columns:
            row_id (uint32): Number of the row, from 0.
            action (text): Name of the action; empty where neither its client's nor its server's creation was
                recorded.
            id (text): The goal's id, 32 hexadecimal digits.
            client (row of nodes, or absent): Its client.
            server (row of nodes, or absent): Its server.
            sent_ns (int64, ns, or absent): Just before rcl_action_send_goal_request.
            taken_ns (int64, ns, or absent): Its request was taken by the server.
            accepted (boolean, or absent): Whether the server accepted it.
            accepted_ns (int64, ns, or absent): When it did.
            answered_ns (int64, ns, or absent): Just before the server's answer, accepted or rejected, was sent.
            response_ns (int64, ns, or absent): The client took that answer.
            executing_ns (int64, ns, or absent): Its execution began, as the server says.
            cancel_sent_ns (int64, ns, or absent): Just before the client first asked for its cancellation.
            canceling_ns (int64, ns, or absent): The server agreed to cancel it.
            outcome (text, or absent): How it ended. `succeeded`, `canceled`, `aborted`.
            ended_ns (int64, ns, or absent): When it did, at the server.
            result_sent_ns (int64, ns, or absent): Just before its result was first sent.
            result_ns (int64, ns, or absent): The client took the result.
            feedback (uint64, or absent): Feedback published; absent where nothing of its server was recorded.
            first_feedback_ns (int64, ns, or absent): First and last publish call of feedback.
            last_feedback_ns (int64, ns, or absent): See `first_feedback_ns`.
            execution (row of executions, or absent): The execution that executes it, of a coroutine the first part.
                If the client library does not report it: from the state executing (else accepted) to its end, on
                the thread that ended it.
        """
        return self.table("goals", names=names, columns=columns)

    def states(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a state of a managed node, in the order of time.

        Columns:
            row_id (uint32): Number of the row, from 0.
            node (row of nodes): Its node.
            from_ns (int64, ns): When it came into it; of the first, when its state machine was made.
            state (text): As rcl_lifecycle labels it: unconfigured, inactive, active, finalized, and those of
                transitions, configuring ...
        """
        return self.table("states", names=names, columns=columns)

    def chains(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a source-to-sink path, or named chain.

        Columns:
            row_id (uint32): Number of the row, from 0.
            name (text): Name from the workload, else made of its first and last node.
            path (list of text): Node, topic, node, topic ... node; then the topic of its output, where one was
                stated as its end.
            critical (boolean): Of all paths that rest on no guess the one with the highest worst-case end-to-end
                time (study E); of all, where each rests on one.
            lost (uint64): Publications of its first node that no output of the last descends from.
            evidence (text): How outputs were tied to inputs, weakest link, in words.
            deadline_ns (int64, ns, or absent): By when an instance must be through, as the links file says; absent
                where nobody says.
            until_ns (int64, ns, or absent): When the first executor or process on its path had ended, but for those
                that were killed; absent where all were.
            guessed_at (list of text): Nodes on its path whose tie of output to input is a guess (`guess`), in
                order; none in older runs.
            callbacks (list of text): The callbacks that most of its instances pass, in order: of each node the one
                that publishes, or ends; before it the one that took the input, if that is another. A node that
                published outside of callbacks is named instead. None in older runs.
        """
        return self.table("chains", names=names, columns=columns)

    def instances(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row an instance of a chain.

        Columns:
            row_id (uint32): Number of the row, from 0.
            chain (row of chains): Its chain.
            start_ns (int64, ns): Start of the first node's callback.
            end_ns (int64, ns): Last node's output: its publish call, or the end of its callback where it publishes
                nothing.
            end_to_end_ns (int64, ns): End - start.
            computation_ns (int64, ns): Inside callbacks of the chain, from start to publish, less `off_cpu_ns` and
                `preemption_ns` where these are known.
            off_cpu_ns (int64, ns, or absent): Of the time inside those callbacks: the thread slept or was blocked;
                where `preemption_ns` is absent, it had no CPU for at least this long. Absent where CPU time is not
                known of all of it, and in older runs.
            preemption_ns (int64, ns, or absent): Of the time inside those callbacks: the thread could have gone on
                and had no CPU: by scheduler events, or by the kernel's run delay of the whole callback. Absent
                where neither is known of all of it.
            alignment_ns (int64, ns, or absent): Message there, executor asleep: waiting for the node to wake (study
                E). Absent where nothing of it is reported: without arrivals and events of an executor.
            queueing_ns (int64, ns): Message there, executor busy with other callbacks.
            kept_ns (int64, ns, or absent): Taken by a callback, and kept for the later one that used it. Absent in
                older runs, where it is part of alignment.
            transport_ns (int64, ns): Publish call to message there.
        """
        return self.table("instances", names=names, columns=columns)

    def hops(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a node of an instance of a chain.

        Columns:
            row_id (uint32): Number of the row, from 0.
            instance (row of instances): Its instance.
            position (uint32): 0 for the first node.
            execution (row of executions, or absent): The execution of its callback; absent for a first node that
                publishes outside of callbacks.
            published_ns (int64, ns, or absent): When its input was published; absent for the first.
            arrival_ns (int64, ns, or absent): When its input was there; absent for the first, and if the events do
                not show it.
            start_ns (int64, ns): Start of its callback; its publish call where there is no callback.
            output_ns (int64, ns): Its output.
            queueing_ns (int64, ns): Of the time between arrival and start: executor busy with other callbacks.
            alignment_ns (int64, ns, or absent): Of the time before the start: see [figures](figures-of-chains.md).
                Absent for the first, if the events do not show it, and in older runs.
            kept_ns (int64, ns, or absent): See `alignment_ns`.
            off_cpu_ns (int64, ns, or absent): Of the time from start to output; absent unless it is known of all
                hops of the instance, and in older runs.
            preemption_ns (int64, ns, or absent): Of the time from start to output; absent unless it is known of all
                hops of the instance.
        """
        return self.table("hops", names=names, columns=columns)

    def preemptions(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row an interval in which a thread that executes callbacks could not go on: CPU taken away, or waiting
        for it, or blocked.

        Columns:
            row_id (uint32): Number of the row, from 0.
            process (row of processes): Its process.
            tid (uint32): The thread.
            execution (row of executions, or absent): The innermost execution; absent outside of callbacks.
            from_ns (int64, ns): When it went off the CPU, or was woken.
            to_ns (int64, ns): When it came back, or was woken where it was blocked.
            state (text): Why. A thread that blocked and was woken has a row for each, one after the other.
                `runnable`, `blocked`, `interrupted`.
            woken (boolean): Runnable since it was woken; false where the CPU was taken from it.
            cpu (uint32): The CPU that it was taken from or waited for.
            by_tid (uint32, or absent): Runnable: the thread that had that CPU; a row each where several had it in
                turn. Blocked: the thread that woke it. Absent where no thread did (an idle CPU, an interrupt) or it
                is not known.
            by_comm (text, or absent): Its name; the interrupt's, `eth0 (irq 27)`.
            waits_in (text, or absent): Blocked: the system call that it waited in, `page fault`, else the function
                of the kernel. Absent where call chains were not recorded, and in older runs.
        """
        return self.table("preemptions", names=names, columns=columns)

    def executors(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a thread that executes callbacks: how its time divides.

        Columns:
            row_id (uint32): Number of the row, from 0.
            process (row of processes): Its process.
            tid (uint32): The thread.
            executor (uint32, or absent): Number of its executor, where that has several threads; absent where it is
                the only one.
            executor_threads (uint32, or absent): Threads of that executor, those that ran no callback too; absent
                like it.
            from_ns (int64, ns): Its first event, or the start of the window.
            to_ns (int64, ns): Its last event, or the end of the window.
            waiting_ns (int64, ns, or absent): Inside the executor's wait; absent where its waits are not recorded.
            empty_waits (uint64, or absent): Waits outside of callbacks after which it waited again and had run no
                callback; absent like `waiting_ns`.
            ready_ns (int64, ns, or absent): Neither waiting nor executing: taking messages, looking for what is
                ready; absent like `waiting_ns`.
            executing_ns (int64, ns): Inside callbacks.
            running_ns (int64, ns, or absent): On a CPU; absent, like all below, without scheduler events of the
                whole span.
            runnable_ns (int64, ns, or absent): Off the CPU and able to go on.
            blocked_ns (int64, ns, or absent): Off the CPU, asleep or blocked.
            voluntary_switches (uint64, or absent): Times it gave the CPU up.
            involuntary_switches (uint64, or absent): Times the CPU was taken from it.
        """
        return self.table("executors", names=names, columns=columns)

    def slowdowns(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a stretch of time in which a thread that executes callbacks computed more slowly than usual ([`slow-
        cpu`](lints.md#slow-cpu)).

        Columns:
            row_id (uint32): Number of the row, from 0.
            process (row of processes): Its process.
            tid (uint32): The thread.
            from_ns (int64, ns): Start of the first execution in it.
            to_ns (int64, ns): End of the last one.
            callbacks_factor (double): Median, over those executions, of their duration over the median duration of
                their callback.
            steps_factor (double): The same of the steps of the client library.
            executions (uint32): Its executions of callbacks that usually take the same each time.
            callbacks (uint32): Their callbacks.
            longer_ns (int64, ns): What these executions took above the median of their callbacks.
        """
        return self.table("slowdowns", names=names, columns=columns)

    def links(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row an input and an output of a node on a chain: how the one was tied to the other.

        Columns:
            row_id (uint32): Number of the row, from 0.
            node (row of nodes): Its node.
            input (text): Topic that it takes.
            output (text, or absent): Topic that it publishes; absent for the last node of a chain: whatever it
                publishes, else the end of its callback.
            rule (text): How. `header_stamp`, `same_callback`, `latest`, `latest_once`, `match`, `unrelated`.
            evidence (text): What says so. `stated`, `annotated`, `observed`, `inferred`.
            confidence (double): From 0 to 1: what the rule is worth, times the part of the outputs that it
                explains. docs/figures-of-chains.md, "links".
            outputs (uint64): Outputs since the first input was taken.
            followed (uint64): Of those, the ones that the rule finds an input for.
            guess (boolean, or absent): Whether the rule is a guess: nothing shows that the output is made of this
                input, or of which of its messages. Absent in older runs.
        """
        return self.table("links", names=names, columns=columns)

    def inputs(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row an input of a chain: when it was first reflected and last used.

        Columns:
            row_id (uint32): Number of the row, from 0.
            chain (row of chains): Its chain.
            start_ns (int64, ns): Start of the first node's callback: when it read what it publishes.
            previous_ns (int64, ns, or absent): Start of the input before: a change just after it was missed by that
                one. Absent for the first.
            reflected_ns (int64, ns, or absent): First output that descends from this input or a later one; absent
                where there was none.
            last_used_ns (int64, ns, or absent): Last output that descends from this input; absent where none does.
            replaced_ns (int64, ns, or absent): The output after that one, which replaces it; absent where there was
                none.
        """
        return self.table("inputs", names=names, columns=columns)

    def causes(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a part of a late instance, and one row a reason why inputs of a chain led to no output.

        Columns:
            row_id (uint32): Number of the row, from 0.
            chain (row of chains): Its chain.
            instance (row of instances, or absent): The late instance; absent for inputs that no output descends
                from.
            position (uint32): Node on the path where it happened, 0 for the first; of transport and waits the node
                that receives.
            kind (text): What. `computation`, `off_cpu`, `blocked`, `preemption`, `interrupt`, `transport`,
                `wake_up`, `no_cpu`, `executor_busy`, `group_busy`, `interpreter_busy`, `kept`, `not_due`,
                `tick_late`, `used_again`, `no_newer`, `overwritten`, `lost`, `unmatched`, `ended`, `pending`,
                `untold`, `superseded`, `no_output`, `not_active`.
            by (text): By whom, in words: the callback that the executor was busy with, the thread that had the CPU,
                the topic, `queue of depth 1`.
            execution (row of executions, or absent): The execution that did it, if it is one; of several the one of
                the longest part. Of `no_newer` the one without which the next message, published in time, would
                have been used instead.
            from_ns (int64, ns, or absent): Where it, or the first of several intervals, began; absent where only
                its length is known.
            duration_ns (int64, ns, or absent): How long. Of one instance all durations add up to its end-to-end
                time.
            usual_ns (int64, ns, or absent): Median of the same part (position, kind, by) over the chain's
                instances, 512 of them at most (64 if only the ten longest are explained); absent where there are
                fewer than three.
            count (uint64): 1, or the inputs that ended this way.
        """
        return self.table("causes", names=names, columns=columns)

    def signals(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a [signal](tasks.md#signals) that the task of a node reports over time.

        Columns:
            row_id (uint32): Number of the row, from 0.
            node (row of nodes): Its node.
            task (text): The task of that node, `vehicle`.
            name (text): Name, without its unit: `lateral_error`.
            unit (text): Unit, `m/s`; empty for a count, a ratio, or 1 for yes and 0 for no.
            list (boolean): Whether its values are entries of lists.
        """
        return self.table("signals", names=names, columns=columns)

    def samples(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a value of a signal, in the order in which they were reported.

        Columns:
            row_id (uint32): Number of the row, from 0.
            signal (row of signals): Its signal.
            entry (uint32): Entry of a list whose entries are reported together, from 0; 0 for all that is no list.
            at_ns (int64, ns): The instant that it describes.
            reported_ns (int64, ns): When the task reported it.
            execution (row of executions, or absent): The execution in which it did; absent outside of callbacks.
            value (double): Value, in the unit of its signal.
        """
        return self.table("samples", names=names, columns=columns)

    def clocks(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a host, where there are several: how its clock was related to that of the first.

        Columns:
            row_id (uint32): Number of the row, from 0.
            host (text): Host name.
            offset_ns (int64, ns, or absent): How far it was ahead of the first host's, at its first message; absent
                where messages went not both ways: then its times do not compare with the first host's, and there
                are no latencies between the two.
            drift_ppm (double, ppm, or absent): How fast that grew.
            uncertainty_ns (int64, ns, or absent): Its times are right to this, either way.
            spans (uint32): Straight lines that its offset was followed by; more than one where it was slewed. 0 for
                the first host.
            sent (uint64): Messages that it sent to other hosts.
            received (uint64): Messages that it took from other hosts.
        """
        return self.table("clocks", names=names, columns=columns)

    def bag_topics(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a topic of an imported bag.

        Columns:
            row_id (uint32): Number of the row, from 0.
            name (text): Name.
            datatype (text): Type of its messages, `sensor_msgs/msg/Imu`.
            has_header (boolean, or absent): Whether its messages begin with a `std_msgs/Header`; absent if the bag
                holds no readable definition of the type.
        """
        return self.table("bag_topics", names=names, columns=columns)

    def bag_messages(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """One row a message of an imported bag, by topic, in the order of log times.

        Columns:
            row_id (uint32): Number of the row, from 0.
            topic (uint32): Number of its topic, in the order in which the topics are met.
            log_ns (int64, ns): When the recorder received it.
            publish_ns (int64, ns, or absent): When it was published, as the middleware reports; absent if the
                writer of the bag stored its log time instead.
            stamp_ns (int64, ns, or absent): The stamp in its header; absent if it has none, or one of 0, which was
                never set.
            size_bytes (uint64, bytes): Its serialised length.
            sequence (uint32, or absent): Its number in the bag: the publisher's, the recorder's own, or 0 for all;
                absent if the format has none.
            stretch (uint32): The number of its part of the bag: a new part begins wherever messages may be missing.
        """
        return self.table("bag_messages", names=names, columns=columns)

    def notes(self, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """What is missing, doubtful or lost, in words, with a count: stands beside every figure that it touches.

        Columns:
            row_id (uint32): Number of the row, from 0.
            name (text): Short stable name, `no-callback-events`.
            count (uint64): How often.
            text (text): In words, with what it touches.
        """
        return self.table("notes", names=names, columns=columns)
