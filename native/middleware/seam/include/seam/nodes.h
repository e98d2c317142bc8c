/* SPDX-License-Identifier: Apache-2.0
 *
 * For plugins in C: texts of failures, and the nodes of a session.
 */
#ifndef TACHO_SEAM_NODES_H_
#define TACHO_SEAM_NODES_H_

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>

__attribute__((format(printf, 2, 3))) static inline void say(char *error, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(error, TACHO_ERROR_SIZE, format, list);
  va_end(list);
}

/* A node in a list; a plugin's own structure of a node begins with it. If a node is only a name, this address is the
   handle. Not locked. */
struct seam_node {
  struct seam_node *next;
  char *name;
};

static inline struct seam_node *seam_find(struct seam_node *nodes, const char *name) {
  while (nodes && strcmp(nodes->name, name)) nodes = nodes->next;
  return nodes;
}

/* Returns the node of an endpoint; NULL, with a text, if it was not made. */
static inline struct seam_node *seam_node_of(struct seam_node *nodes, const struct tacho_endpoint_config *config,
                                             const char *plugin, char *error) {
  struct seam_node *found = seam_find(nodes, config->node);
  if (!found) say(error, "%s: %s: this session has no node \"%s\"", plugin, config->topic, config->node);
  return found;
}

/* Puts a new node of `size` bytes, zero after its struct seam_node, at the head of the list; NULL, with a text, if
   the name exists. */
static inline struct seam_node *seam_node_add(struct seam_node **nodes, const char *name, size_t size,
                                              const char *plugin, char *error) {
  if (seam_find(*nodes, name)) {
    say(error, "%s: this session already has a node \"%s\"", plugin, name);
    return NULL;
  }
  struct seam_node *made = calloc(1, size);
  if (!made || !(made->name = strdup(name))) {
    say(error, "%s: no memory for node \"%s\"", plugin, name);
    free(made);
    return NULL;
  }
  made->next = *nodes;
  return *nodes = made;
}

/* Frees the head of the list. */
static inline void seam_node_remove(struct seam_node **nodes) {
  struct seam_node *first = *nodes;
  *nodes = first->next;
  free(first->name);
  free(first);
}

#endif /* TACHO_SEAM_NODES_H_ */
