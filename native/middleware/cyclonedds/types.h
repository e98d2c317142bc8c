/* SPDX-License-Identifier: Apache-2.0
 *
 * The message types of messages.idl by name, and the places of our header and data in each of them.
 */
#ifndef TACHO_CYCLONEDDS_TYPES_H_
#define TACHO_CYCLONEDDS_TYPES_H_

#include <dds/dds.h>
#include <stddef.h>
#include <tacho/middleware.h>

struct dds_type {
  const char *name;
  const dds_topic_descriptor_t *descriptor;
  size_t only_size;   /* bytes of data it always carries; 0: any */
  size_t data_offset; /* of the sequence<octet>, or of the array if only_size is its size */
  int fixed;          /* the data are an array inside the sample */
};

extern const char *const dds_type_names[];

/* Returns the type of that name; "" is Bytes. NULL: there is none. */
const struct dds_type *dds_type(const char *name);

/* Returns a sample with room for `size` bytes of data and all other fields set. NULL: no memory. */
void *dds_type_create(const struct dds_type *type, size_t size);
void dds_type_destroy(const struct dds_type *type, void *sample);

/* Returns the data of a sample and their size. */
void *dds_type_data(const struct dds_type *type, void *sample, size_t *size);
/* Returns the header of a sample of any type. */
struct tacho_header *dds_type_header(void *sample);

#endif
