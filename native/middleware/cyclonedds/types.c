// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"

// The header of messages.idl is that of middleware.h, and is the first field of every type.
_Static_assert(sizeof(tachograph_Header) == sizeof(struct tacho_header) &&
                   offsetof(tachograph_Header, stamp_ns) == offsetof(struct tacho_header, stamp_ns) &&
                   offsetof(tachograph_Header, publisher) == offsetof(struct tacho_header, publisher) &&
                   offsetof(tachograph_Header, reserved) == offsetof(struct tacho_header, reserved),
               "messages.idl and middleware.h have different headers");
_Static_assert(!offsetof(tachograph_Bytes, header) && !offsetof(tachograph_PointCloud2, header) &&
                   !offsetof(tachograph_Image, header) && !offsetof(tachograph_TwistStamped, header),
               "a type does not begin with the header");

#define MIB (1024u * 1024u)
#define SEQUENCE(type) offsetof(tachograph_##type, data), 0
static const struct dds_type types[] = {
    {"Bytes", &tachograph_Bytes_desc, 0, SEQUENCE(Bytes)},
    {"PointCloud2", &tachograph_PointCloud2_desc, 0, SEQUENCE(PointCloud2)},
    {"PointCloud1m", &tachograph_PointCloud2_desc, MIB, SEQUENCE(PointCloud2)},
    {"Image", &tachograph_Image_desc, 0, SEQUENCE(Image)},
    {"TwistStamped", &tachograph_TwistStamped_desc, sizeof(double[6]), offsetof(tachograph_TwistStamped, twist), 1},
};
const char *const dds_type_names[] = {"Bytes", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", NULL};

const struct dds_type *dds_type(const char *name) {
  if (!*name) return types;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) return &types[i];
  return NULL;
}

// One row of one-byte points, so that any size is a well-formed cloud.
static void make_cloud(tachograph_PointCloud2 *cloud, size_t size) {
  tachograph_PointField *field = dds_alloc(sizeof *field);
  *field = (tachograph_PointField){.name = dds_string_dup("intensity"), .datatype = 2 /* UINT8 */, .count = 1};
  cloud->frame_id = dds_string_dup("lidar");
  cloud->fields._buffer = field;
  cloud->fields._maximum = cloud->fields._length = 1;
  cloud->fields._release = true;
  cloud->height = cloud->point_step = 1;
  cloud->width = cloud->row_step = (uint32_t)size;
  cloud->is_dense = true;
}

// One row of mono8.
static void make_image(tachograph_Image *image, size_t size) {
  image->frame_id = dds_string_dup("camera");
  image->encoding = dds_string_dup("mono8");
  image->height = 1;
  image->width = image->step = (uint32_t)size;
}

static dds_sequence_octet *sequence(const struct dds_type *type, void *sample) {
  return (dds_sequence_octet *)((char *)sample + type->data_offset);
}

void *dds_type_create(const struct dds_type *type, size_t size) {
  // dds_alloc returns zeros and aborts if there is no memory. The user chooses the size, so we try it first.
  void *room = type->fixed ? NULL : calloc(1, size + 1);  // one byte more, so that no data have an address, too
  if (!type->fixed && !room) return NULL;
  void *sample = dds_alloc(type->descriptor->m_size);
  if (type->descriptor == &tachograph_PointCloud2_desc) make_cloud(sample, size);
  if (type->descriptor == &tachograph_Image_desc) make_image(sample, size);
  if (!type->fixed) *sequence(type, sample) = (dds_sequence_octet){(uint32_t)size, (uint32_t)size, room, true};
  return sample;
}

void dds_type_destroy(const struct dds_type *type, void *sample) {
  dds_sample_free(sample, type->descriptor, DDS_FREE_ALL);
}

void *dds_type_data(const struct dds_type *type, void *sample, size_t *size) {
  if (type->fixed) {
    *size = type->only_size;
    return (char *)sample + type->data_offset;
  }
  *size = sequence(type, sample)->_length;
  return sequence(type, sample)->_buffer;
}

struct tacho_header *dds_type_header(void *sample) { return sample; }
