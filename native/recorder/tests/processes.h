/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests what a program may do to its process and to its event file.
 */
#ifndef TACHO_RECORDER_TESTS_PROCESSES_H_
#define TACHO_RECORDER_TESTS_PROCESSES_H_

void test_exec(void);
void test_fork(void);
void test_spawn(void);
void test_removed(void);
void test_locked(void);
void test_sandbox(void);
void test_stream(void);

#endif /* TACHO_RECORDER_TESTS_PROCESSES_H_ */
