/* SPDX-License-Identifier: Apache-2.0
 *
 * What the checks use of the program that runs them: the plugin under test, the way to fail, sessions, waiting.
 */
#ifndef TACHO_CONFORMANCE_SUITE_H_
#define TACHO_CONFORMANCE_SUITE_H_

#include <setjmp.h>
#include <tacho/middleware.h>

extern const struct tacho_middleware *mw;
extern int (*call_within)(struct tacho_subscription *, int64_t, tacho_on_message, void *,
                          char *);                /* tacho_call_within, or NULL */
extern void (*wake)(struct tacho_subscription *); /* tacho_wake, or NULL */
extern unsigned domain;
extern jmp_buf failed;
void fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
#define FAIL(...) fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition, ...)            \
  do {                                   \
    if (!(condition)) FAIL(__VA_ARGS__); \
  } while (0)

/* Sessions that a failing check leaves open are closed by the program. */
struct tacho_session *opened(void);
/* Does the same and makes a node "talker". */
struct tacho_session *joined(void);
void closed(struct tacho_session *session);

/* Waits until the condition holds, for at most ten seconds; true if it does. Spins with short sleeps. */
#define WAIT(condition)                                                \
  ({                                                                   \
    long long until = now_ns() + 10000000000ll;                        \
    int held;                                                          \
    while (!(held = !!(condition)) && now_ns() < until) short_sleep(); \
    held;                                                              \
  })
long long now_ns(void);
void short_sleep(void);

#endif
