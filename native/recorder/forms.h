/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes records of kinds that the compiler does not know, and of gids and texts.
 */
#ifndef TACHO_RECORDER_FORMS_H_
#define TACHO_RECORDER_FORMS_H_

#include <stddef.h>
#include <stdint.h>

#include "thread.h"

/* Returns the kind of the record in which this event is written; TACHO_WIDE: no other fits. */
uint32_t forms_of(uint32_t kind, const uint64_t *words, uint32_t count);

/* Returns the bytes that a record of this form needs, and all its gids if they have no numbers yet. */
uint32_t forms_size(uint32_t form);

/* Writes a record of that form and moves the cursor behind it. There must be room for it and for all its gids. */
void forms_put(struct cursor *cursor, uint64_t delta, uint32_t form, const uint64_t *words, uint32_t count);

/* Writes the text record at this place. `sizes` are the bytes of each text without its NUL. */
void forms_put_text(char *at, uint64_t delta, const char *const *texts, const size_t *sizes, uint32_t count,
                    size_t bytes);

#endif /* TACHO_RECORDER_FORMS_H_ */
