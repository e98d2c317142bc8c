// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <pthread.h>
#include <rosidl_typesupport_fastrtps_c/identifier.h>
#include <rosidl_typesupport_introspection_c/field_types.h>
#include <rosidl_typesupport_introspection_c/identifier.h>
#include <rosidl_typesupport_introspection_c/message_introspection.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>
#if __has_include(<rosidl_runtime_c/type_hash.h>)  // since Iron
#include <rosidl_runtime_c/type_description/type_description__struct.h>
#include <rosidl_runtime_c/type_description/type_source__struct.h>
#include <rosidl_runtime_c/type_hash.h>
#define DESCRIBED 1
#endif

typedef rosidl_message_type_support_t support_t;
typedef rosidl_typesupport_introspection_c__MessageMember member_t;
enum { FIELDS = 5, BY_CDR = 0, BY_INTROSPECTION, DISPATCH, SUPPORTS };

struct array_type {
  size_t size;
  support_t supports[SUPPORTS];
  member_t members[FIELDS];
  rosidl_typesupport_introspection_c__MessageMembers introspection;
  char name[32];
#ifdef DESCRIBED
  char full_name[48];
  rosidl_type_hash_t hash;
  rosidl_runtime_c__type_description__Field fields[FIELDS];
  rosidl_runtime_c__type_description__TypeDescription description;
  rosidl_runtime_c__type_description__TypeSource__Sequence sources;
#endif
  struct array_type *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of the list, whose members are never changed nor freed
static struct array_type *types;

static struct array_type *type_of(const support_t *support) {
  pthread_mutex_lock(&mutex);
  struct array_type *type = types;
  while (type && (support < type->supports || support >= type->supports + SUPPORTS)) type = type->next;
  pthread_mutex_unlock(&mutex);
  return type;
}

static const support_t *for_rmw(const support_t *support, const char *identifier) {
  const struct array_type *type = type_of(support);
  for (int i = 0; i < DISPATCH; i++)
    if (!strcmp(type->supports[i].typesupport_identifier, identifier)) return &type->supports[i];
  return NULL;
}

static const struct {
  const char *name;
  uint8_t introspected, described;  // FIELD_TYPE_* of type_description_interfaces/msg/FieldType
  uint32_t offset;
} fields[FIELDS] = {
    {"sequence", rosidl_typesupport_introspection_c__ROS_TYPE_UINT64, 9, offsetof(struct tacho_header, sequence)},
    {"stamp_ns", rosidl_typesupport_introspection_c__ROS_TYPE_INT64, 8, offsetof(struct tacho_header, stamp_ns)},
    {"publisher", rosidl_typesupport_introspection_c__ROS_TYPE_UINT32, 7, offsetof(struct tacho_header, publisher)},
    {"reserved", rosidl_typesupport_introspection_c__ROS_TYPE_UINT32, 7, offsetof(struct tacho_header, reserved)},
    {"data", rosidl_typesupport_introspection_c__ROS_TYPE_OCTET, 51, sizeof(struct tacho_header)},
};

static void init(void *message, enum rosidl_runtime_c__message_initialization how) {
  (void)how;
  memset(message, 0, sizeof(struct tacho_header));  // the data need not be touched
}

static void fini(void *message) { (void)message; }

static void introspect(struct array_type *type) {
  for (int i = 0; i < FIELDS; i++)
    type->members[i] =
        (member_t){.name_ = fields[i].name, .type_id_ = fields[i].introspected, .offset_ = fields[i].offset};
  member_t *data = &type->members[FIELDS - 1];
  data->is_array_ = true;
  data->array_size_ = type->size;
  type->introspection = (rosidl_typesupport_introspection_c__MessageMembers){
      .message_namespace_ = "tacho_msgs__msg",
      .message_name_ = type->name,
      .member_count_ = FIELDS,
      .size_of_ = sizeof(struct tacho_header) + type->size,
      .members_ = type->members,
      .init_function = init,
      .fini_function = fini,
  };
}

#ifdef DESCRIBED
static const rosidl_type_hash_t *hash_of(const support_t *support) { return &type_of(support)->hash; }
static const rosidl_runtime_c__type_description__TypeDescription *description_of(const support_t *support) {
  return &type_of(support)->description;
}
static const rosidl_runtime_c__type_description__TypeSource__Sequence *sources_of(const support_t *support) {
  return &type_of(support)->sources;
}

static rosidl_runtime_c__String text(const char *words) {
  const size_t length = strlen(words);
  return (rosidl_runtime_c__String){(char *)(uintptr_t)words, length, length + 1};
}

static void describe(struct array_type *type) {
  // Version 0 means "not set": peers get no hash. The rest distinguishes our sizes in rcl's cache of types.
  memcpy(type->hash.value, &type->size, sizeof type->size);
  for (int i = 0; i < FIELDS; i++) {
    type->fields[i].name = text(fields[i].name);
    type->fields[i].type.type_id = fields[i].described;
    type->fields[i].type.nested_type_name = type->fields[i].default_value = text("");
  }
  type->fields[FIELDS - 1].type.capacity = type->size;
  snprintf(type->full_name, sizeof type->full_name, "tacho_msgs/msg/%s", type->name);
  type->description.type_description.type_name = text(type->full_name);
  type->description.type_description.fields =
      (rosidl_runtime_c__type_description__Field__Sequence){type->fields, FIELDS, FIELDS};
}
#define DESCRIPTION                                                           \
  .get_type_hash_func = hash_of, .get_type_description_func = description_of, \
  .get_type_description_sources_func = sources_of,
#else
static void describe(struct array_type *type) { (void)type; }
#define DESCRIPTION
#endif

static struct array_type *make(size_t size) {
  const void *callbacks = ros2_array_callbacks(size);
  struct array_type *type = callbacks ? calloc(1, sizeof *type) : NULL;
  if (!type) return NULL;
  type->size = size;
  snprintf(type->name, sizeof type->name, "Array_%zu", size);
  introspect(type);
  describe(type);
  const char *identifiers[SUPPORTS] = {rosidl_typesupport_fastrtps_c__identifier,
                                       rosidl_typesupport_introspection_c__identifier, "tacho"};
  const void *const datas[SUPPORTS] = {callbacks, &type->introspection, NULL};
  for (int i = 0; i < SUPPORTS; i++)
    type->supports[i] =
        (support_t){.typesupport_identifier = identifiers[i], .data = datas[i], .func = for_rmw, DESCRIPTION};
  type->next = types;
  return types = type;
}

const rosidl_message_type_support_t *ros2_array_support(size_t size) {
  pthread_mutex_lock(&mutex);
  struct array_type *type = types;
  while (type && type->size != size) type = type->next;
  if (!type) type = make(size);
  pthread_mutex_unlock(&mutex);
  return type ? &type->supports[DISPATCH] : NULL;
}
