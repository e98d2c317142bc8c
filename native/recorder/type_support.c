/* SPDX-License-Identifier: Apache-2.0 */
#include "type_support.h"

#include <stdio.h>
#include <string.h>

#include "release.h"
#include "thread.h"

/* Type supports describe their types from this release on (Iron). */
#define RELEASE_OF_TYPE_DESCRIPTIONS RELEASE(5, 0, 0)

/* rosidl_runtime_c__String */
struct string {
  const char *data;
  size_t size, capacity;
};

/* rosidl_runtime_c__type_description__Field */
struct field {
  struct string name;
  uint8_t type_id;
  uint64_t capacity, string_capacity;
  struct string nested_type_name;
  struct string default_value;
};
enum { TYPE_NESTED = 1 };

/* The fields of rosidl_runtime_c__type_description__TypeDescription that we read. */
struct type_description {
  struct string type_name;
  struct {
    const struct field *data;
    size_t size, capacity;
  } fields;
};

/* rosidl_message_type_support_t */
struct type_support {
  const char *identifier;
  const void *data;
  const struct type_support *(*handle)(const struct type_support *, const char *identifier);
  const void *type_hash_function;
  const struct type_description *(*description)(const struct type_support *);
};

/* type_support_map_t: the libraries that can handle the type, and those of them that are loaded. */
struct type_support_map {
  size_t size;
  const char *package;
  const char *const *identifiers;
  const char *const *symbols;
  void *const *loaded;
};

/* The fields of message_type_support_callbacks_t, which Fast DDS and Zenoh use, that we read. */
struct fastrtps_callbacks {
  const char *namespace, *name;
  const void *serialize, *deserialize;
  type_support_size *serialized_size;
};

#define FASTRTPS "rosidl_typesupport_fastrtps_c" /* or ..._cpp */
#define SYMBOL "__get_message_type_support_handle__"

static const struct type_support_map *map_of(const struct type_support *type) {
  if (type == NULL || type->identifier == NULL || type->data == NULL) return NULL;
  const bool is_map =
      strcmp(type->identifier, "rosidl_typesupport_c") == 0 || strcmp(type->identifier, "rosidl_typesupport_cpp") == 0;
  return is_map ? type->data : NULL;
}

void type_support_name(const struct type_support *type, char *name, size_t room) {
  *name = '\0';
  const struct type_support_map *map = map_of(type);
  if (map == NULL || map->size == 0 || map->package == NULL || map->symbols[0] == NULL) return;
  /* <library>__get_message_type_support_handle__<package>__msg__<type> */
  const char *found = strstr(map->symbols[0], SYMBOL);
  if (found == NULL) return;
  found += strlen(SYMBOL);
  const size_t package = strlen(map->package);
  if (strncmp(found, map->package, package) != 0 || strncmp(found + package, "__", 2) != 0) return;
  const char *kind = found + package + 2, *of_kind = strstr(kind, "__");
  if (of_kind != NULL) snprintf(name, room, "%s/%.*s/%s", map->package, (int)(of_kind - kind), kind, of_kind + 2);
}

type_support_size *type_support_size_of(const struct type_support *type) {
  const struct type_support_map *map = map_of(type);
  for (size_t i = 0; map != NULL && i < map->size; i++) {
    if (strncmp(map->identifiers[i], FASTRTPS, strlen(FASTRTPS)) != 0 || map->loaded[i] == NULL) continue;
    const struct type_support *found = type->handle(type, map->identifiers[i]);
    const struct fastrtps_callbacks *callbacks = found != NULL ? found->data : NULL;
    return callbacks != NULL ? callbacks->serialized_size : NULL;
  }
  return NULL;
}

static bool is(const struct string *text, const char *wanted) {
  return text->data != NULL && strcmp(text->data, wanted) == 0;
}

bool type_support_begins_with_stamp(const struct type_support *type) {
  if (release_known() == 0) thread_seek_release();
  if (release_known() < RELEASE_OF_TYPE_DESCRIPTIONS || type == NULL || type->description == NULL) return false;
  const struct type_description *described = type->description(type);
  if (described == NULL || described->fields.size == 0) return false;
  const struct field *first = &described->fields.data[0];
  if (first->type_id != TYPE_NESTED) return false;
  return is(&first->nested_type_name, "std_msgs/msg/Header") ||
         (is(&first->nested_type_name, "builtin_interfaces/msg/Time") && is(&first->name, "stamp"));
}
