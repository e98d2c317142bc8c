/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests programs that are legal and rare (victim_odd.c). They run as without the recorder, and every event is recorded
 * or counted as dropped.
 */
#ifndef TACHO_RECORDER_TESTS_ODD_H_
#define TACHO_RECORDER_TESTS_ODD_H_

void test_raw_children(void);
void test_shared_child(void);
void test_jump(void);
void test_jump_from_own_stack(void);
void test_bad_addresses(void);
void test_every_descriptor(void);
void test_every_descriptor_of_hard_limit(void);
void test_no_tsc(void);
void test_no_tsc_later(void);
void test_strict(void);
void test_leave_main(void);

#endif /* TACHO_RECORDER_TESTS_ODD_H_ */
