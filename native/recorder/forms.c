/* SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include <string.h>

uint8_t thread_number_gid(struct cursor *cursor, uint64_t delta, const uint64_t *gid, uint32_t number, uint32_t kept) {
  char *const next = cursor->next;
  /* Every gid may have two numbers. If both are taken, one of them goes, now this one and now that. */
  if (cursor->gids[number] != 0 && (cursor->gids[number ^ 1] == 0 || (uintptr_t)next & 4)) number ^= 1;
  if (number == kept) number ^= 1;
  const char *at = record_put_gid(next, delta, number, gid);
  cursor->next = next + RECORD_GID;
  cursor->gids[number] = (uint16_t)((uint64_t)(at - (cursor->end + RECORD_SLACK - TACHO_CHUNK_SIZE)) / 4);
  return (uint8_t)number;
}

uint32_t forms_of(uint32_t kind, const uint64_t *words, uint32_t count) {
  const uint32_t less = record_short(kind);
  if (less != 0 && record_misfit(less, words, count) == 0) return less;
  return record_misfit(kind, words, count) == 0 ? kind : TACHO_WIDE;
}

uint32_t forms_size(uint32_t form) {
  const uint64_t widths = record_widths(form);
  return record_size(widths) + record_gids(widths) * RECORD_GID;
}

void forms_put(struct cursor *cursor, uint64_t delta, uint32_t form, const uint64_t *words, uint32_t count) {
  const uint64_t widths = record_widths(form);
  uint8_t numbers[THREAD_GIDS_MAX];
  thread_number_gids(cursor, delta, widths, words, count, numbers);
  record_put(cursor->next, delta, form, words, count, numbers);
  cursor->next += record_size(widths);
}

void forms_put_text(char *at, uint64_t delta, const char *const *texts, const size_t *sizes, uint32_t count,
                    size_t bytes) {
  char *to = at + 8;
  for (uint32_t i = 0; i < count; i++) {
    if (sizes[i] > TACHO_TEXT_MAX) {
      memcpy(to, texts[i], TACHO_TEXT_MAX - 3);
      memcpy(to + TACHO_TEXT_MAX - 3, "...", 3);
      to += TACHO_TEXT_MAX;
    } else {
      if (sizes[i] > 0) memcpy(to, texts[i], sizes[i]);
      to += sizes[i];
    }
    *to++ = '\0';
  }
  memset(to, 0, bytes - (size_t)(to - at));
  const uint32_t size = (uint32_t)(bytes - 8) / 4;
  memcpy(at + 4, &size, sizeof size);
  record_publish(at, delta, TACHO_TEXT);
}
