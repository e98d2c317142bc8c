/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the promises of middleware.h as named checks. A check that fails calls FAIL (suite.h), which ends it there.
 */
#ifndef TACHO_CONFORMANCE_CONTRACT_H_
#define TACHO_CONFORMANCE_CONTRACT_H_

struct check {
  const char *name; /* a sentence */
  void (*run)(void);
};

extern const struct check checks[]; /* ends with a name of NULL */
void a_descriptor_tells_of_messages(void);
void a_call_waits_for_a_message(void);
void a_call_without_a_limit_is_woken(void);

#endif
