/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests what ends a recording before the program: limits, a full disk, SIGKILL.
 */
#ifndef TACHO_RECORDER_TESTS_LIMITS_H_
#define TACHO_RECORDER_TESTS_LIMITS_H_

void test_max_bytes(void);
void test_file_size_limit(void);
void test_full_disk(void);
void test_no_directory(void);
void test_kill(void);

#endif /* TACHO_RECORDER_TESTS_LIMITS_H_ */
