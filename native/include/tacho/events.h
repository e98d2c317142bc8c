/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the event file, into which a program under measurement writes its events.
 *
 * Each process has one file, mapped shared, so that the page cache keeps everything written even after SIGKILL.
 *
 *   page 0     struct tacho_file_header
 *   chunk 0..  at TACHO_HEADER_SIZE + i * TACHO_CHUNK_SIZE, each owned by one thread:
 *              struct tacho_chunk_header, then records, then zeros
 *
 * A record is a head of 4 bytes and its payload, filled up with zeros to a multiple of 4 bytes:
 *
 *   head = (ticks - base) << 8 | kind
 *
 * base is chunk.base_ticks, or what the last TACHO_TIME record of the chunk says. The words of a kind lie as
 * tacho/widths.h lists; an event whose words do not fit is a TACHO_WIDE record.
 *
 * The payload is written first and the head last, with release order. Storage starts as zeros and no kind is 0. So a
 * head of 0 ends a chunk, and a record that a killed process had not finished is not there at all. An event and its
 * text lie in one chunk: an event that does not fit starts the thread's next chunk. The reader (crates/events) needs
 * nothing else: no index, no footer, no clean end.
 *
 * All numbers are little endian. docs/event-file.md is the specification; this header implements it in C.
 */
#ifndef TACHO_EVENTS_H_
#define TACHO_EVENTS_H_

#include <stdint.h>

#define TACHO_MAGIC "TACHOEV3"
#define TACHO_HEADER_SIZE 4096u
#define TACHO_CHUNK_SIZE 32768u
#define TACHO_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define TACHO_MAX_WORDS 63u
#define TACHO_SEGMENT_CHUNKS 512u /* chunks that the writer maps at once: 16 MiB */
#define TACHO_CHUNKS_LIMIT (UINT64_C(1) << 29) /* 16 TiB, the largest file on ext4: no file grows beyond it */
#define TACHO_TICKS_BITS 24u /* of a head: a later event needs a TACHO_TIME record before it */
#define TACHO_TIME_BITS 48u  /* of a TACHO_TIME record and a head: a later event starts a chunk */
#define TACHO_GIDS 256u      /* numbers of gids in a chunk */
#define TACHO_ANY_SIZE 15u   /* in `sizes`: the payload's first 4 bytes state its size */
#define TACHO_TEXT_MAX 4095u /* bytes of one text argument, without its NUL */

/* What ticks count. A clock other than CLOCK_MONOTONIC is used only if it is invariant across cores and sleep states. */
enum tacho_clock {
  TACHO_CLOCK_TSC = 1,       /* x86-64 rdtsc */
  TACHO_CLOCK_CNTVCT = 2,    /* aarch64 cntvct_el0 */
  TACHO_CLOCK_MONOTONIC = 3, /* clock_gettime, ticks are ns */
  TACHO_CLOCK_BOARD = 4,     /* a microcontroller's own: its ns since it started; kinds 150 and 151 relate it to CLOCK_MONOTONIC */
};

/* What carries RTPS messages from participant to participant. */
enum tacho_transport {
  TACHO_TRANSPORT_SOCKET = 1,
  TACHO_TRANSPORT_SHARED_MEMORY = 2,
  TACHO_TRANSPORT_OTHER = 3, /* seen where a DDS takes messages from all its transports, but in no socket */
};

/* The services of an action. */
enum tacho_action_service { TACHO_ACTION_SEND_GOAL = 1, TACHO_ACTION_CANCEL_GOAL = 2, TACHO_ACTION_GET_RESULT = 3 };

/* What a callback of an action is for. */
enum tacho_action_role {
  TACHO_ACTION_ON_GOAL = 1,     /* at the server: decides on the goal whose request this thread took last */
  TACHO_ACTION_ON_ACCEPTED = 2, /* at the server: the goal was accepted */
  TACHO_ACTION_EXECUTE = 3,     /* at the server: does the work of the goal */
  TACHO_ACTION_ON_CANCEL = 4,   /* at the server: decides whether to accept the cancellation */
  TACHO_ACTION_ON_GOAL_RESPONSE = 5, /* at the client: the goal was accepted or rejected */
  TACHO_ACTION_ON_FEEDBACK = 6,      /* at the client */
  TACHO_ACTION_ON_RESULT = 7,        /* at the client */
  TACHO_ACTION_ON_CANCEL_RESPONSE = 8, /* at the client */
};

/* What the recorder had to do differently in this process. */
enum tacho_remark {
  TACHO_REMARK_FEW_DESCRIPTORS = 1,  /* it keeps no descriptor of its file, because the program has hardly any left */
  TACHO_REMARK_NO_TSC = 2,           /* PR_SET_TSC forbids the TSC: the clock costs a system call, or the thread's events are dropped */
  TACHO_REMARK_STRICT_SECCOMP = 4,   /* events of a thread in seccomp's strict mode are dropped */
  TACHO_REMARK_SHARED_THREAD = 8,    /* another task wrote with a thread's memory (CLONE_VM): its events are among that thread's */
};

/* Page 0. Text fields are NUL-terminated UTF-8, cut to fit. `live` fields change while the process runs. */
struct tacho_file_header {
  char magic[8]; /* TACHO_MAGIC, written last: without it the process ended before it could record anything */
  uint32_t header_size; /* TACHO_HEADER_SIZE */
  uint32_t chunk_size;  /* TACHO_CHUNK_SIZE */
  uint32_t clock;       /* enum tacho_clock */
  uint32_t pid;
  uint32_t ppid;
  uint32_t tracetools; /* release of libtracetools: major << 16 | minor << 8 | patch; 0: none was found */
  /* One reading of all clocks at the start: ticks lie within +-bound_ns of monotonic_ns. */
  uint64_t start_ticks;
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t start_bound_ns;
  uint64_t chunks_max;         /* live: the most chunks of the file; raised when chunks are released, at most to TACHO_CHUNKS_LIMIT */
  uint64_t chunks_reserved;    /* live: handed out to threads; failed tries may raise it above chunks_allocated */
  uint64_t chunks_allocated;   /* live: backed by storage */
  uint64_t dropped;            /* live: events of all threads that were not written, for any reason */
  uint64_t closed;             /* live: 1 once the process ended in order; 2: unknown (an imported trace) */
  uint64_t storage_error;      /* live: errno that stopped the file from growing (ENOSPC, EFBIG); 0: none */
  uint64_t kept_from_ns;       /* live: all events from this CLOCK_MONOTONIC on are kept; 0: all are (docs/event-file.md, "Rings") */
  uint64_t dropped_nested;     /* live: those of `dropped` that signal handlers fired inside the writing of another event */
  uint64_t remarks;            /* live: bits of enum tacho_remark */
  char boot_id[40];
  char host[64];
  char ros_distro[32];
  char rmw_implementation[64];
  char executable[512];
  char command[2048]; /* arguments joined by spaces */
  uint64_t unmap[128]; /* live: 1 + number of a segment whose chunks were all released: the writer unmaps it and writes 0 */
  /* Of each kind from 0 to 255, 4 bits: how many times 4 bytes its payload has. The lower 4 bits of a byte are those of
   * the even kind. So a reader skips kinds that it does not know. */
  uint8_t sizes[128];
};

struct tacho_chunk_header {
  uint32_t magic; /* TACHO_CHUNK_MAGIC, written last, with release order */
  uint32_t tid;
  uint64_t sequence;       /* 0, 1, 2 ... among this thread's chunks in this file */
  uint64_t base_ticks;     /* heads and TACHO_TIME records count from here */
  uint64_t dropped_before; /* events that this thread dropped since its previous chunk */
  char thread_name[16];
  uint64_t reserved[2];
};

/* The kinds. Kinds of ros2_tracing keep its names, its fields and their order (tracetools 4.1 Humble to 8.6 Kilted and
 * Rolling). A pointer, an integer or a bool is one word; a gid is two (16 bytes). Text arguments are not in the payload.
 * They are written just before it as one TACHO_TEXT record: its bytes are the texts, one after the other, each ended by
 * NUL. They belong, in order, to the thread's next event. A text of more than TACHO_TEXT_MAX bytes is cut there and then
 * ends in "...". */
enum tacho_kind {
  /* of the recorder itself */
  TACHO_TEXT = 1, /* of the format: size, texts; size: of what follows it, as a multiple of 4 bytes */
  TACHO_CLOCK_SYNC = 2, /* monotonic_ns, realtime_ns, bound_ns; ticks are the record's own */
  TACHO_TIME = 3, /* of the format: later heads count from base_ticks + (ticks of this head << 24) */
  TACHO_WIDE = 4, /* of the format: an event with words of 8 bytes: kind << 16 | size, words */
  TACHO_GID = 5,  /* of the format: number of 4 bytes, gid of 16: later events of this chunk name the gid by the number */

  /* ros2_tracing */
  TACHO_RCL_INIT = 16,              /* context_handle */
  TACHO_RCL_NODE_INIT,              /* node_handle, rmw_handle; text: name, namespace */
  TACHO_RMW_PUBLISHER_INIT,         /* rmw_publisher_handle, gid, gid */
  TACHO_RCL_PUBLISHER_INIT,         /* publisher_handle, node_handle, rmw_publisher_handle, queue_depth; text: topic */
  TACHO_RCLCPP_PUBLISH,             /* publisher_handle, message */
  TACHO_RCLCPP_INTRA_PUBLISH,       /* publisher_handle, message */
  TACHO_RCL_PUBLISH,                /* publisher_handle, message */
  TACHO_RMW_PUBLISH,                /* rmw_publisher_handle, message, timestamp_ns; before Jazzy 0, message, 0 */
  TACHO_RMW_SUBSCRIPTION_INIT,      /* rmw_subscription_handle, gid, gid */
  TACHO_RCL_SUBSCRIPTION_INIT,      /* subscription_handle, node_handle, rmw_subscription_handle, queue_depth; text: topic */
  TACHO_RCLCPP_SUBSCRIPTION_INIT,   /* subscription_handle, subscription */
  TACHO_RCLCPP_SUBSCRIPTION_CALLBACK_ADDED, /* subscription, callback */
  TACHO_RMW_TAKE,                   /* rmw_subscription_handle, message, source_timestamp, taken */
  TACHO_RCL_TAKE,                   /* message */
  TACHO_RCLCPP_TAKE,                /* message */
  TACHO_RCL_SERVICE_INIT,           /* service_handle, node_handle, rmw_service_handle; text: service */
  TACHO_RCLCPP_SERVICE_CALLBACK_ADDED, /* service_handle, callback */
  TACHO_RMW_TAKE_REQUEST,           /* rmw_service_handle, request, client_gid, client_gid, sequence_number, taken */
  TACHO_RMW_SEND_RESPONSE,          /* rmw_service_handle, response, client_gid, client_gid, sequence_number, timestamp */
  TACHO_RMW_CLIENT_INIT,            /* rmw_client_handle, gid, gid */
  TACHO_RCL_CLIENT_INIT,            /* client_handle, node_handle, rmw_client_handle; text: service */
  TACHO_RMW_SEND_REQUEST,           /* rmw_client_handle, request, sequence_number */
  TACHO_RMW_TAKE_RESPONSE,          /* rmw_client_handle, response, sequence_number, source_timestamp, taken */
  TACHO_RCL_TIMER_INIT,             /* timer_handle, period_ns */
  TACHO_RCLCPP_TIMER_CALLBACK_ADDED, /* timer_handle, callback */
  TACHO_RCLCPP_TIMER_LINK_NODE,     /* timer_handle, node_handle */
  TACHO_RCLCPP_CALLBACK_REGISTER,   /* callback; text: symbol */
  TACHO_CALLBACK_START,             /* callback, is_intra_process */
  TACHO_CALLBACK_END,               /* callback */
  TACHO_RCL_LIFECYCLE_STATE_MACHINE_INIT, /* node_handle, state_machine */
  TACHO_RCL_LIFECYCLE_TRANSITION,   /* state_machine; text: start label, goal label */
  TACHO_RCLCPP_EXECUTOR_GET_NEXT_READY, /* nothing */
  TACHO_RCLCPP_EXECUTOR_WAIT_FOR_WORK,  /* timeout_ns */
  TACHO_RCLCPP_EXECUTOR_EXECUTE,    /* handle */
  TACHO_RCLCPP_IPB_TO_SUBSCRIPTION, /* ipb, subscription */
  TACHO_RCLCPP_BUFFER_TO_IPB,       /* buffer, ipb */
  TACHO_RCLCPP_CONSTRUCT_RING_BUFFER, /* buffer, capacity */
  TACHO_RCLCPP_RING_BUFFER_ENQUEUE, /* buffer, index, size, overwritten */
  TACHO_RCLCPP_RING_BUFFER_DEQUEUE, /* buffer, index, size */
  TACHO_RCLCPP_RING_BUFFER_CLEAR,   /* buffer */

  /* A node's author states which input made which output (link annotations of tracetools); one record a pair. */
  TACHO_MESSAGE_LINK_PERIODIC_ASYNC, /* subscription_handle, publisher_handle: published on a timer from the latest input */
  TACHO_MESSAGE_LINK_PARTIAL_SYNC,   /* subscription_handle, publisher_handle: published when all linked inputs are there */

  /* Only in imported traces, before Jazzy: these assign a take to its publication if rmw does not report it. */
  TACHO_DDS_WRITE,                      /* writer, message, timestamp: dds:write stamps what its thread publishes; 0: not reported */
  TACHO_DISPATCH_SUBSCRIPTION_CALLBACK, /* callback, message, source_timestamp: CARET's, before the callback_start of this thread */
  TACHO_DISPATCH_INTRA_PROCESS_SUBSCRIPTION_CALLBACK, /* callback, message: the same for a message of its own process */
  TACHO_MESSAGE_CONSTRUCT,              /* original_message, constructed_message: CARET's; one is a copy of the other */

  /* Below rcl, where tracetools has no event: a program enters rmw. */
  TACHO_RMW_PUBLISH_CALLED = 64, /* rmw_publisher_handle, message: rmw_publish or a variant of it was called */
  TACHO_RMW_TAKE_CALLED = 65,    /* rmw_subscription_handle: rmw_take or a variant of it was called */

  /* Below rmw: RTPS messages (OMG DDSI-RTPS 2.5) between a DDS and its transport. sequence is that of the sample, from
   * 1. source_timestamp is its INFO_TS in ns of the Unix epoch; 0: it has none. A sample that is sent whole is fragment
   * 1 of 1. A message with a piece of a sample carries `fragments` of the of_fragments fragments, beginning with
   * first_fragment. transport: enum tacho_transport */
  TACHO_DDS_SEND = 66,           /* writer_gid, writer_gid, sequence, source_timestamp, first_fragment, fragments, of_fragments, transport: handed to it */
  TACHO_DDS_RECEIVE = 67,        /* writer_gid, writer_gid, sequence, source_timestamp, first_fragment, fragments, of_fragments, transport: returned by it */
  TACHO_DDS_DATA_AVAILABLE = 68, /* reader_gid, reader_gid, writer_gid, writer_gid, first_sequence, last_sequence: the reader has it */

  /* ROS 1 (roscpp), written by the library that is preloaded beside the recorder. Callbacks are recorded as
   * callback_start and callback_end. A subscription is one call of NodeHandle::subscribe, a publisher one call of
   * NodeHandle::advertise. transport: 1 TCPROS, 2 UDPROS, 0 within the process. buffer: the serialised message, if
   * there is one. message: the object, if it is passed within one process. */
  TACHO_ROS1_NODE_INIT = 80,         /* node_handle: a node or a nodelet; text: name */
  TACHO_ROS1_PUBLISHER_INIT = 81,    /* publisher_handle, node_handle, queue_size, latch; text: topic, type */
  TACHO_ROS1_PUBLISH = 82,           /* publisher_handle, message: just before the publish call */
  TACHO_ROS1_SERIALIZED = 83,        /* buffer, size_bytes, message: the message of this thread's last ros1_publish goes to its subscribers */
  TACHO_ROS1_SUBSCRIBER_LINK_INIT = 84, /* link, connection, transport, local_port, remote_port: a subscriber connected; text: topic, subscriber */
  TACHO_ROS1_ENQUEUE = 85,           /* link, buffer: put into the link's outgoing queue */
  TACHO_ROS1_WRITE = 86,             /* connection, sequence, buffer, digest: handed to the transport; digest 0: not computed (TCPROS) */
  TACHO_ROS1_PUBLISHER_LINK_INIT = 87, /* link, transport, local_port, remote_port, received_before: connected to a publisher; text: topic */
  TACHO_ROS1_RECEIVE = 88,           /* link, transport, sequence, buffer, message, digest: a message came; all its ros1_queue_push follow on this thread */
  TACHO_ROS1_RECEIVED = 89,          /* link: the last ros1_queue_push of that message was written */
  TACHO_ROS1_SUBSCRIPTION_INIT = 90, /* callback, node_handle, queue_size; text: topic, type */
  TACHO_ROS1_SUBSCRIPTION_END = 91,  /* callback */
  TACHO_ROS1_QUEUE_PUSH = 92,        /* callback, queue, deserializer: just before it can be taken */
  TACHO_ROS1_QUEUE_OVERFLOW = 93,    /* callback: a push removed the oldest message */
  TACHO_ROS1_TAKE = 94,              /* queue, deserializer: a message was taken from the queue, just before it is deserialised */
  TACHO_ROS1_TIMER_INIT = 95,        /* callback, node_handle, period_ns, oneshot; text: function */
  TACHO_ROS1_TIMER_PERIOD = 96,      /* callback, period_ns: the period was changed */
  TACHO_ROS1_SERVICE_INIT = 97,      /* callback, node_handle; text: service, type */
  TACHO_ROS1_CALLBACK_QUEUED = 98,   /* item: the call of a timer or a service was put into its callback queue */
  TACHO_ROS1_CALLBACK_CALL = 99,     /* item: it is called; a callback_start of this thread follows */

  /* Callback groups and executors as CARET reports them; only in imported traces. An owner is an executor, or an object
   * that collects its groups. */
  TACHO_CALLBACK_GROUP_ADD_TIMER = 110,    /* group, timer_handle */
  TACHO_CALLBACK_GROUP_ADD_SUBSCRIPTION,   /* group, subscription_handle */
  TACHO_CALLBACK_GROUP_ADD_SERVICE,        /* group, service_handle */
  TACHO_CALLBACK_GROUP_ADD_CLIENT,         /* group, client_handle */
  TACHO_ADD_CALLBACK_GROUP,                /* owner, group; text: type */
  TACHO_CONSTRUCT_EXECUTOR,                /* executor, collector or 0; text: type */
  TACHO_EXECUTOR_ENTITY_COLLECTOR_TO_EXECUTOR, /* executor, collector */

  /* rmw_publish of a tracetools whose release is unknown. Only the first argument is recorded: up to Iron it is the
   * message, from Jazzy on rmw_publisher_handle. */
  TACHO_RMW_PUBLISH_OF_UNKNOWN_RELEASE = 120, /* message or rmw_publisher_handle */

  /* Nodes that tacho runs itself, on any middleware. Handles are those of the layer below if it has them. */
  TACHO_NODE_PUBLISH = 128,         /* publisher_handle, publisher_id, sequence, size: just before the publish call */
  TACHO_NODE_TAKE = 129,            /* subscription_handle, publisher_id, sequence, stamp_ns: first line of the callback */
  TACHO_NODE_DATA_AVAILABLE = 130,  /* subscription_handle: the middleware reports that a message is there */
  TACHO_NODE_SKIPPED = 131,         /* publisher_handle, count: sends that were due and did not happen */
  TACHO_NODE_WAKE = 132,            /* node_handle: a spinning node woke to look at its queues */
  TACHO_NODE_DUE = 133,             /* publisher_handle, sequence, due_ns: when the message published next was due by the clock */

  TACHO_CALLBACK_CPU = 134,         /* cpu_ns, is_end: CLOCK_THREAD_CPUTIME_ID just before a callback_start, just after a callback_end */
  TACHO_CALLBACK_CPU_AND_DELAY = 140, /* cpu_ns, run_delay_ns, is_end: in its place if the kernel reports run_delay: how long the thread, since it began, was ready to run and had no CPU */

  /* rclpy, whose callbacks the recorder wraps (native/recorder/rclpy). A coroutine that awaits leaves its thread; each
   * part of it until then has a callback_start and a callback_end. task: the coroutine, unique until it ends */
  TACHO_RCLPY_CALLBACKS = 135,         /* nothing; text: why callbacks are not recorded; empty: they are recorded */
  TACHO_RCLPY_COROUTINE = 136,         /* task, part: the callback_start that follows on this thread is part 0, 1, 2 ... of it */
  TACHO_RCLPY_CLIENT_CALLBACK_ADDED = 137, /* client_handle, callback: added to the future of a response */
  TACHO_RCLPY_RESPONSE = 138,          /* client_handle, sequence_number: the callback_start that follows on this thread handles that response */
  TACHO_RCLPY_ACTION_CALLBACK = 139,   /* goal_id, goal_id, enum tacho_action_role: the purpose of the callback_start that follows on this thread; id 0: unknown */

  /* The kernel's events, in a file of pid 0 whose chunks belong to CPUs: a chunk's tid is the number of its CPU. Thread
   * ids are those of the host's first pid namespace; 0 is the CPU's idle thread. An empty comm means that the thread's
   * last known one holds. waker_tid 0: an interrupt, or unknown. */
  TACHO_SCHED_WAITS_IN = 142, /* tid: what it waits in when it next blocks, until another is written; text: system call or page fault or function of the kernel; empty: unknown */
  TACHO_KERNEL_EVENTS_LOST = 143, /* count: events since the previous one of this CPU for which the kernel had no room */
  TACHO_SCHED_SWITCH = 144, /* prev_tid, prev_state, next_tid; text: prev_comm, next_comm; state 0: it could have continued */
  TACHO_SCHED_WAKEUP = 145, /* tid, target_cpu, waker_tid; text: comm */
  TACHO_IRQ_ENTRY = 146,    /* irq; text: name */
  TACHO_IRQ_EXIT = 147,     /* irq */
  TACHO_SOFTIRQ_ENTRY = 148, /* vector */
  TACHO_SOFTIRQ_EXIT = 149, /* vector */

  /* A microcontroller's events, in a file of its own whose ticks are TACHO_CLOCK_BOARD. */
  TACHO_BOARD_TO_HOST = 150, /* board_ns, monotonic_ns: what the board sent at board_ns had arrived here by monotonic_ns */
  TACHO_HOST_TO_BOARD = 151, /* monotonic_ns, board_ns: what was sent here at monotonic_ns had arrived there by board_ns */
  TACHO_BOARD_MATCHED = 152, /* endpoint_handle, peers */
  TACHO_BOARD_TAKE = 153,    /* subscription_handle, writer_gid, writer_gid, sequence: of RTPS, from 1 */

  /* Nodes that tacho runs itself, like 128 to 133. code: the middleware's own, 1 if it gives none */
  TACHO_NODE_REFUSED = 154, /* publisher_handle, sequence, code: the publish call of the previous node_publish failed, nothing was sent; code 1: the middleware gave only a text; text: reason */

  /* rclcpp, where tracetools has no event (native/recorder/rclcpp). */
  TACHO_RCLCPP_CALLBACK_GROUP_ADD = 155, /* group, object, what, is_exclusive: added to that group; what: 1 subscription, 2 timer, 3 service, 4 waitable, 5 the client that this thread made last; object: in rclpy, its callback */
  TACHO_RCLCPP_CLIENT_EXECUTE = 156,     /* nothing: the executor starts on a client: it takes a response and handles it, or handles what it took from an action client */
  TACHO_RCLCPP_EXECUTED = 157,           /* nothing: it is done with that client; in older recordings, also with any other waitable */

  /* Nodes that tacho runs itself, like 128 to 133: the next activation in this callback computes on this message, which
   * the node took before. stamp_ns: by which the messages were matched */
  TACHO_NODE_USES = 158, /* subscription_handle, publisher_id, sequence, stamp_ns */

  /* rcl_action, where tracetools has no event. The recorder interposes its functions and writes these. action_handle:
   * rcl_action_client_t or rcl_action_server_t. service: enum tacho_action_service. Gids and goal ids take two words.
   * client_gid is 0 if the client itself writes the event. took_ns: the duration of the call that sent it; 0 if it was
   * taken. says: accepted (send_goal), goal status (get_result), return code (cancel_goal) */
  TACHO_RCL_ACTION_INIT = 160,      /* action_handle: made; this thread's last rcl_client_init or rcl_service_init belongs to one of its services */
  TACHO_RCL_ACTION_REQUEST = 161,   /* action_handle, service, client_gid, client_gid, sequence_number, goal_id, goal_id, took_ns: sent or taken */
  TACHO_RCL_ACTION_RESPONSE = 162,  /* action_handle, service, client_gid, client_gid, sequence_number, says, took_ns: sent or taken */
  TACHO_RCL_ACTION_GOAL_STATE = 163, /* goal_id, goal_id, status (action_msgs/GoalStatus): the goal's status at its server from now on */
  TACHO_RCL_ACTION_FEEDBACK = 164,  /* goal_id, goal_id: the goal of this thread's last rmw_publish or rmw_take */

  /* The stamp that a message carries if its type begins with std_msgs/Header, or with a time called stamp. The recorder
   * writes it unless the stamp is 0. stamp_ns: from whatever clock set it */
  TACHO_HEADER_STAMP_SENT = 165,  /* rmw_publisher_handle, stamp_ns: the stamp of the message that this thread publishes next through rmw */
  TACHO_HEADER_STAMP_TAKEN = 166, /* rmw_subscription_handle, stamp_ns: the stamp of the message from this thread's last rmw_take */

  /* Tasks of nodes that tacho runs itself report signals: values over time. value: the bits of a double. at_ns: the
   * instant that it describes. entry: of a list whose entries are reported together; else 0 */
  TACHO_NODE_SIGNAL_INIT = 167, /* node_handle, signal, is_list; text: task, name, unit */
  TACHO_NODE_SIGNAL = 168,      /* node_handle, signal, entry, at_ns, value: of a node_signal_init of the same node */

  /* What rmw made, by the values of rmw_qos_profile_t. type: `std_msgs/msg/String`; empty if it is not known */
  TACHO_RMW_PUBLISHER_QOS = 169,    /* rmw_publisher_handle, reliability, durability, history, depth; text: type */
  TACHO_RMW_SUBSCRIPTION_QOS = 170, /* rmw_subscription_handle, reliability, durability, history, depth; text: type */

  /* The size of a message, serialised, without the four bytes that name its encoding. The recorder writes it for the
   * first message of a publisher, and for one in 8 */
  TACHO_MESSAGE_SIZE = 171, /* rmw_publisher_handle, size_bytes: of the message that this thread publishes next through rmw */

  /* Short forms of kinds: tacho/widths.h lists which words they leave out. */
  TACHO_SHORT_RMW_TAKE = 224,             /* of the format: rmw_take, taken */
  TACHO_SHORT_CALLBACK_START = 225,       /* of the format: callback_start, of a message that is not of its own process */
  TACHO_SHORT_DDS_SEND = 226,             /* of the format: dds_send, of a whole sample */
  TACHO_SHORT_DDS_RECEIVE = 227,          /* of the format: dds_receive, of a whole sample */
  TACHO_SHORT_RMW_PUBLISH = 228,          /* of the format: rmw_publish, as before Jazzy */
  TACHO_SHORT_RCLCPP_RING_BUFFER_ENQUEUE = 229, /* of the format: rclcpp_ring_buffer_enqueue, nothing overwritten */
};

#endif /* TACHO_EVENTS_H_ */
