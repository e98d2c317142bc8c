/* SPDX-License-Identifier: Apache-2.0
 *
 * The middleware seam. A middleware is one shared object, libtacho_<name>.so, that exports
 *
 *     const struct tacho_middleware *tacho_middleware(void);
 *
 * Conventions, the same for every entry:
 *  - A function that can fail returns NULL or a negative value and writes the cause, what was found and what would
 *    mend it into `error` (never NULL, TACHO_ERROR_SIZE bytes).
 *  - QoS, a type or a transport that the middleware cannot honour is such a failure, never silently ignored.
 *  - Messages are the middleware's own types, serialised by its own code; the header travels inside the payload.
 *  - One session may be used from several threads, one publisher or subscription from one thread at a time.
 *    on_data alone is called from any thread, must return quickly and must not call back into the session.
 */
#ifndef TACHO_MIDDLEWARE_H_
#define TACHO_MIDDLEWARE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TACHO_MIDDLEWARE_ABI 3u
#define TACHO_ERROR_SIZE 1024u

enum tacho_reliability { TACHO_BEST_EFFORT = 0, TACHO_RELIABLE = 1 };
enum tacho_durability { TACHO_VOLATILE = 0, TACHO_TRANSIENT_LOCAL = 1 };
enum tacho_history { TACHO_KEEP_LAST = 0, TACHO_KEEP_ALL = 1 };

struct tacho_qos {
  uint32_t reliability;
  uint32_t durability;
  uint32_t history;
  uint32_t depth; /* of keep last; at least 1 */
};

/* What every message of ours carries inside its payload. */
struct tacho_header {
  uint64_t sequence;  /* 0, 1, 2 ... a publisher */
  int64_t stamp_ns;   /* CLOCK_MONOTONIC just before the publish call */
  uint32_t publisher; /* unique in a run */
  uint32_t reserved;  /* ns by which the stamp of the content, for matching inputs, is older than stamp_ns */
};

struct tacho_message {
  struct tacho_header header;
  const void *data;
  size_t size; /* bytes of data, without the header */
  void *loan;  /* the plugin's own, and the message's address in the trace events of the layer below */
};

struct tacho_session;
struct tacho_publisher;
struct tacho_subscription;

struct tacho_session_config {
  uint32_t domain;       /* DDS domain, or its counterpart, which separates the runs on one machine */
  const char *transport; /* "" for the middleware's default; "in-process" connects only nodes of this process */
  /* IPv4 address of the only interface to use, also to search for peers; "" keeps all traffic on this machine. */
  const char *address;
};

struct tacho_endpoint_config {
  const char *node;  /* a name given to node() before */
  const char *topic; /* fully qualified, "/points" */
  const char *type;  /* "" lets the plugin choose by size; names are listed in `types` */
  size_t size;       /* bytes of data a message carries (publishers) or at most carries (subscriptions) */
  struct tacho_qos qos;
};

typedef void (*tacho_on_data)(void *context);
typedef void (*tacho_on_message)(void *context, const struct tacho_message *message);

struct tacho_middleware {
  uint32_t abi;     /* TACHO_MIDDLEWARE_ABI */
  const char *name; /* "ros2" */
  const char *const *
      transports; /* NULL-terminated, default first; names that begin with "udp" or "tcp" name the protocol between processes */
  const char *const *types; /* NULL-terminated, the message types that it carries */

  /* Version of the middleware found at run time, with the layers below: "rcl 10.1.3, rmw_fastrtps_cpp 9.3.3". */
  int (*version)(char *out, size_t size, char *error);

  struct tacho_session *(*open)(const struct tacho_session_config *config, char *error);
  void (*close)(struct tacho_session *session); /* also destroys everything that is still open in it */

  /* A node of the graph. Its handle is the address that the layer below uses in its own trace events (an rcl_node_t
   * *), or any unique address. `traced` reports whether that layer emits its own node, publisher and subscription
   * events. */
  int (*node)(struct tacho_session *session, const char *name, const void **handle, int *traced, char *error);

  struct tacho_publisher *(*advertise)(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                       const void **handle, char *error);
  /* on_data may be NULL. It is called at least once after each message that is put into an empty queue. */
  struct tacho_subscription *(*subscribe)(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                          tacho_on_data on_data, void *context, const void **handle, char *error);

  /* Returns the number of remote endpoints now matched with this one, or a negative value. */
  int (*publisher_matched)(struct tacho_publisher *publisher, char *error);
  int (*subscription_matched)(struct tacho_subscription *subscription, char *error);

  /* The buffer of the next message: `size` bytes of data to fill in place, inside the typed message or, if the
   * transport has zero copy, inside shared memory. *kept reports whether it still holds what was last filled in.
   * *message is the message's address in the trace events of the layer below, or the buffer. */
  void *(*borrow)(struct tacho_publisher *publisher, int *kept, const void **message, char *error);
  /* Publishes the borrowed buffer with this header. If this or borrow() fails, the send was refused: the caller counts
   * it and continues with its next message. A result below -1 is minus the middleware's code for the reason: an errno,
   * a DDS return code, an rcl_ret_t. With -1 only the text gives the reason. */
  int (*publish)(struct tacho_publisher *publisher, const struct tacho_header *header, char *error);

  /* Returns 1 and *message, 0 if there is none, negative on failure. A subscription lends one message at a time. */
  int (*take)(struct tacho_subscription *subscription, struct tacho_message *message, char *error);
  void (*give_back)(struct tacho_subscription *subscription, struct tacho_message *message);

  /* Optional (NULL). Returns a descriptor that poll() reports as readable if a message may have come since take() last
   * found none. So the kernel wakes the thread that takes, and not a thread of the plugin. Only for a subscription made
   * with on_data NULL. */
  int (*descriptor)(struct tacho_subscription *subscription, char *error);
};

const struct tacho_middleware *tacho_middleware(void);

/* Optional, exported beside the table: facts that tacho must know before it loads the plugin, and reads from the file.
 * Each is one word on a line of its own; lines that begin with # are comments. In this tree the build makes it from the
 * file `facts` in the plugin's folder.
 *   ends-alone   processes of this middleware must end one after the other, because they can crash or hang if several
 *                end at the same time
 *   one-process  messages never leave their process, whatever the transport, so all nodes go into one process
 *   ros-on-dds   names and messages on the wire are those of ROS 2 on DDS, so ROS 2 nodes and boards hear them */
extern const char tacho_facts[];

/* Optional, exported beside the table. A middleware has it if its own waiting costs less than a wake-up and a take().
 * It takes one message or, if there is none, waits for one: for `limit_ns` (above 0) at most, as exactly as the
 * kernel's timers allow, or without a limit with INT64_MAX, if there is tacho_wake. Then a message or a wake-up ends
 * the wait. on_message receives the message where a program of that middleware would: inside the middleware's own
 * callback, if it has one. It may publish, but not take from this subscription, and the message is given back when it
 * returns. Returns 1 if it was called, 0 if no message came, negative on failure. If the middleware has `descriptor`,
 * call it only for a subscription made with on_data NULL; otherwise on_data is called as usual. It need not look for
 * messages that came before take() last found none. */
int tacho_call_within(struct tacho_subscription *subscription, int64_t limit_ns, tacho_on_message on_message,
                      void *context, char *error);

/* Optional, beside tacho_call_within. If another thread ends a wait, the wait needs no kernel timer, which would be set
 * and cleared each time. May be called from any thread while the session is open: the tacho_call_within of this
 * subscription that waits without a limit returns 0; if none waits, the next one does, unless take() is called before
 * it. */
void tacho_wake(struct tacho_subscription *subscription);

#ifdef __cplusplus
}
#endif

#endif /* TACHO_MIDDLEWARE_H_ */
