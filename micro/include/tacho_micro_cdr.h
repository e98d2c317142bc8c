/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements XCDR1 (DDS-XTypes 1.3, 7.4.3): writes little endian, reads either byte order. The generated message code
 * uses it.
 *
 * Alignment counts from the first byte after the encapsulation header. A write that does not fit, or a read beyond the
 * end, sets the error flag and does nothing. All later calls then do nothing, so one check at the end suffices.
 */
#ifndef TACHO_MICRO_CDR_H_
#define TACHO_MICRO_CDR_H_

#include <stdbool.h>
#include <stdint.h>

struct cdr_writer {
  uint8_t *body;
  uint32_t at, size;
  bool overflow;
};

struct cdr_reader {
  const uint8_t *body;
  uint32_t at, size;
  bool little_endian, bad;
};

/* A text that lies in the received message or in the application. `size` does not include the NUL at its end. */
struct micro_string {
  const char *data;
  uint32_t size;
};

/* The text of a C literal or array. */
#define MICRO_STRING(literal) ((struct micro_string){literal, sizeof(literal) - 1})

/* Copies `count` primitives of `width` bytes (1, 2, 4 or 8) from or to host memory of that alignment. */
void cdr_write(struct cdr_writer *cdr, const void *values, uint32_t width, uint32_t count);
void cdr_read(struct cdr_reader *cdr, void *values, uint32_t width, uint32_t count);

/* bound: the most bytes that the type allows; 0: no limit. */
void cdr_write_string(struct cdr_writer *cdr, struct micro_string text, uint32_t bound);
void cdr_read_string(struct cdr_reader *cdr, struct micro_string *text, uint32_t bound);

/* Writes or reads the length of a sequence. A length above `bound` sets the error flag and reads as 0. */
void cdr_write_length(struct cdr_writer *cdr, uint32_t length, uint32_t bound);
uint32_t cdr_read_length(struct cdr_reader *cdr, uint32_t bound);

#endif /* TACHO_MICRO_CDR_H_ */
