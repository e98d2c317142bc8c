/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests many threads at once, many one after the other, and threads with few resources.
 */
#ifndef TACHO_RECORDER_TESTS_CROWDS_H_
#define TACHO_RECORDER_TESTS_CROWDS_H_

void test_crowd(void);
void test_crowd_alone(void);
void test_least_stack(void);
void test_short_threads(void);
void test_pool(void);
void test_pool_at_limit(void);

#endif /* TACHO_RECORDER_TESTS_CROWDS_H_ */
