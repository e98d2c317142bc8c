/* SPDX-License-Identifier: Apache-2.0
 * Nodes of tacho-micro, and a network between them that loses, doubles, delays, cuts and splits datagrams. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

#define FLIGHT_MAX 4096

struct node nodes[NODES_MAX];
static unsigned node_count;
const char *library, *library_scenario;
uint64_t now_us, state = 1, datagrams;
struct network network = {.delay_us = 200};

uint32_t randomly(uint32_t below) { /* xorshift64*, the high half */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 2685821657736338717u >> 32) % below);
}

static struct flight {
  uint64_t at_us;
  uint32_t from, to, size;
  uint16_t port;
  uint8_t *data;
} flight[FLIGHT_MAX];
static unsigned flying;

/* With TORTURE_KEEP=folder the first datagrams are stored, as a corpus for fuzzing. */
static void keep(const uint8_t *data, uint32_t size) {
  char path[600];
  const char *folder = getenv("TORTURE_KEEP");
  if (!folder || datagrams > 150) return;
  snprintf(path, sizeof path, "%s/%s-%03llu", folder, library_scenario, (unsigned long long)datagrams);
  FILE *file = fopen(path, "wb");
  EXPECT(file && fputc(0, file) == 0 && fwrite(data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

void launch(uint32_t from, uint32_t to, uint16_t port, const uint8_t *data, uint32_t size) {
  EXPECT(flying < FLIGHT_MAX, "more than %d datagrams under way: a storm", FLIGHT_MAX);
  struct flight *f = &flight[flying++];
  *f = (struct flight){.at_us = now_us + network.delay_us + (network.jitter_us ? randomly(network.jitter_us) : 0),
                       .from = from,
                       .to = to,
                       .port = port,
                       .size = size};
  f->data = malloc(size + 1);
  memcpy(f->data, data, size);
}

static void on_send(uint32_t from, uint32_t to, uint16_t port, const uint8_t *data, uint32_t size) {
  EXPECT(size % 4 == 0, "datagram of %u bytes", size);
  datagrams++;
  keep(data, size);
  for (unsigned i = 0; i < node_count; i++) {
    uint32_t address = 0x0a000001u + i;
    if (!nodes[i].up || (to != address && to >> 28 != 14) || address == from) continue;
    for (unsigned copies = 1 + (randomly(100) < network.twice); copies; copies--)
      if (randomly(100) >= network.loss) launch(from, address, port, data, size);
  }
}

static void deliver(struct flight *f) {
  struct node *node = &nodes[f->to - 0x0a000001u];
  if (!node->up) return;
  if (randomly(100) < network.cut) f->size = randomly(f->size + 1);
  if (randomly(100) < network.flip) f->data[randomly(f->size + 1) % (f->size + 1)] ^= (uint8_t)(1 + randomly(255));
  if (!network.split || f->size < 64 || randomly(2)) {
    struct udp_piece piece = {.source = f->from, .port = f->port, .data = f->data, .size = f->size, .total = f->size};
    node->receive(&piece);
    return;
  }
  uint32_t total = f->size;
  for (uint32_t offset = 0; offset < total;) {
    uint32_t size = offset ? 8 * (1 + randomly(40)) : 24 + 8 * randomly(40);
    if (size > total - offset) size = total - offset;
    uint8_t *exact = malloc(size ? size : 1); /* of this size, so that the sanitizer sees every byte beyond */
    memcpy(exact, f->data + offset, size);
    struct udp_piece piece = {
        .source = f->from, .port = f->port, .data = exact, .size = size, .offset = offset, .total = total};
    node->receive(&piece);
    free(exact);
    offset += size;
  }
}

void step(uint32_t us) {
  uint64_t until_us = now_us + us;
  for (;;) {
    unsigned first = flying;
    for (unsigned i = 0; i < flying; i++)
      if (flight[i].at_us <= until_us && (first == flying || flight[i].at_us < flight[first].at_us)) first = i;
    if (first == flying) break;
    struct flight f = flight[first];
    flight[first] = flight[--flying];
    if (f.at_us > now_us) now_us = f.at_us;
    deliver(&f);
    free(f.data);
  }
  now_us = until_us;
  for (unsigned i = 0; i < node_count; i++)
    if (nodes[i].up) nodes[i].spin();
}

void run_ms(uint32_t ms) {
  for (uint32_t i = 0; i < ms; i++) step(1000);
}

static void *symbol(void *handle, const char *name) {
  void *found = dlsym(handle, name);
  EXPECT(found, "%s", dlerror());
  return found;
}

struct node *new_node(void) {
  char path[] = "/tmp/tacho-micro-XXXXXX", command[600];
  int fd = mkstemp(path);
  EXPECT(fd >= 0, "no temporary file");
  close(fd);
  snprintf(command, sizeof command, "cp '%s' %s", library, path);
  EXPECT(system(command) == 0, "%s", command);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT(handle, "%s", dlerror());
  unlink(path);
  EXPECT(node_count < NODES_MAX, "too many nodes");
  struct node *n = &nodes[node_count++];
  *(void **)&n->init = symbol(handle, "micro_init");
  *(void **)&n->spin = symbol(handle, "micro_spin");
  *(void **)&n->close = symbol(handle, "micro_close");
  *(void **)&n->loan = symbol(handle, "micro_loan");
  *(void **)&n->publish = symbol(handle, "micro_publish");
  *(void **)&n->matched = symbol(handle, "micro_matched");
  *(void **)&n->acknowledged = symbol(handle, "micro_acknowledged");
  *(void **)&n->peers = symbol(handle, "micro_peers");
  *(void **)&n->counters = symbol(handle, "micro_counters");
  *(void **)&n->receive = symbol(handle, "micro_receive");
  *(void **)&n->set = symbol(handle, "simulated_set");
  *(void **)&n->cdr_write = symbol(handle, "cdr_write");
  return n;
}

void start(struct node *n, const struct micro_node *node) {
  struct simulated_hooks hooks = {.address = 0x0a000001u + (uint32_t)(n - nodes),
                                  .entropy = randomly(UINT32_MAX),
                                  .now_us = &now_us,
                                  .send = on_send};
  n->set(&hooks);
  n->up = true;
  n->init(node);
}
