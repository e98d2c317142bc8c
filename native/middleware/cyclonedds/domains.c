// SPDX-License-Identifier: Apache-2.0
#include "domains.h"

#include <arpa/inet.h>
#include <dds/dds.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tacho/middleware.h>

#include "shared_memory.h"

const char *const domain_transports[] = {"udp", "shm", NULL};
enum transport { UDP, SHM };

// Ports of higher domains do not exist (DDSI-RTPS 2.5, 9.6.2.3).
enum { HIGHEST_DOMAIN = 230 };

// Our configuration, unless CYCLONEDDS_URI is set. Traffic stays on this machine if no address is given, because a
// measurement must neither disturb a vehicle network nor be disturbed by it. Linux does loop multicast back on
// 127.0.0.1, though the interface does not announce it. Participants that multicast finds need no port with their
// number in it, of which a domain has only 120.
static const char this_machine[] = "127.0.0.1";
static const char by_one_interface[] =
    "<CycloneDDS><Domain>"
    "<General><Interfaces><NetworkInterface address=\"%s\" multicast=\"true\"/></Interfaces></General>"
    "<Discovery><ParticipantIndex>none</ParticipantIndex></Discovery>"
    "</Domain></CycloneDDS>";

struct domain {
  uint32_t id;
  enum transport transport;
  char address[INET_ADDRSTRLEN];  // empty: this machine
  dds_entity_t entity;
  unsigned sessions;
  struct domain *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of what follows
static struct domain *domains;

// Cyclone DDS also takes a pattern or a name for an address, and reports mistakes only on stderr.
static bool address_is_usable(const char *address, enum transport transport, char *error) {
  if (!*address) return true;
  struct in_addr asked;
  struct ifaddrs *interfaces = NULL;
  bool found = false, valid = inet_pton(AF_INET, address, &asked) == 1;
  if (valid && getifaddrs(&interfaces) == 0)
    for (const struct ifaddrs *at = interfaces; at; at = at->ifa_next)
      found |= at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
               ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr == asked.s_addr;
  freeifaddrs(interfaces);
  const char *users = getenv("CYCLONEDDS_URI");
  if (!found)
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: address \"%s\" %s; expected one of `ip -4 address`", address,
             valid ? "is of no interface of this machine" : "is no IPv4 address");
  else if (transport == SHM)
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: transport \"shm\" does not leave this machine, but an address (%s) was given; "
             "expected \"udp\"",
             address);
  else if (users && *users)
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: address %s was given, and CYCLONEDDS_URI is set, which says its own: unset one", address);
  else
    return true;
  return false;
}

static int transport_of(const char *name, char *error) {
  if (!*name || !strcmp(name, domain_transports[UDP])) return UDP;
  if (!strcmp(name, domain_transports[SHM])) return shared_memory_works(error) ? SHM : -1;
  snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"%s\" is not known; expected \"udp\" or \"shm\"", name);
  return -1;
}

// If the user has a configuration, only that one counts; commas separate fragments.
static char *configuration(uint32_t id, enum transport transport, const char *address) {
  const char *users = getenv("CYCLONEDDS_URI");
  char ours[sizeof by_one_interface + INET_ADDRSTRLEN], more[256] = "", *text = NULL;
  snprintf(ours, sizeof ours, by_one_interface, *address ? address : this_machine);
  if (transport == SHM) shared_memory_configuration(more, sizeof more, id);
  return asprintf(&text, "%s%s%s", users && *users ? users : ours, *more ? "," : "", more) < 0 ? NULL : text;
}

static struct domain *start(uint32_t id, enum transport transport, const char *address, char *error) {
  if (!address_is_usable(address, transport, error)) return NULL;
  struct domain *domain = calloc(1, sizeof *domain);
  char *text = configuration(id, transport, address);
  if (domain && text) {
    *domain = (struct domain){.id = id, .transport = transport, .entity = dds_create_domain(id, text), .next = domains};
    snprintf(domain->address, sizeof domain->address, "%s", address);
    if (domain->entity > 0) {
      free(text);
      return domains = domain;
    }
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: domain %u: %s; configured by %s: %.600s", id,
             dds_strretcode(domain->entity), getenv("CYCLONEDDS_URI") ? "CYCLONEDDS_URI" : "the plugin", text);
  } else {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: no memory for domain %u", id);
  }
  free(text);
  free(domain);
  return NULL;
}

struct domain *domain_join(uint32_t id, const char *transport, const char *address, char *error) {
  if (id > HIGHEST_DOMAIN) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: domain %u is too high; expected 0 to %d", id, HIGHEST_DOMAIN);
    return NULL;
  }
  pthread_mutex_lock(&mutex);
  int asked = transport_of(transport, error);
  struct domain *domain = asked < 0 ? NULL : domains;
  while (domain && domain->id != id) domain = domain->next;
  if (asked >= 0 && !domain) {
    domain = start(id, (enum transport)asked, address, error);
  } else if (domain && (domain->transport != (enum transport)asked || strcmp(domain->address, address))) {
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: transport \"%s\", address \"%s\" in domain %u: this process already has that "
             "domain on \"%s\", \"%s\", and it can have only one; expected a domain or process of its own",
             domain_transports[asked], address, id, domain_transports[domain->transport], domain->address);
    domain = NULL;
  }
  if (domain) domain->sessions++;
  pthread_mutex_unlock(&mutex);
  return domain;
}

void domain_leave(struct domain *domain) {
  pthread_mutex_lock(&mutex);
  if (!--domain->sessions) {
    struct domain **at = &domains;
    while (*at != domain) at = &(*at)->next;
    *at = domain->next;
    dds_return_t code = dds_delete(domain->entity);
    if (code < 0) fprintf(stderr, "cyclonedds: closing domain %u: %s\n", domain->id, dds_strretcode(code));
    free(domain);
  }
  pthread_mutex_unlock(&mutex);
}

bool domain_is_shared_memory(const struct domain *domain) { return domain->transport == SHM; }
