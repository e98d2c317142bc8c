// SPDX-License-Identifier: Apache-2.0
#include "domains.h"

#include <dds/dds.h>
#include <dds/version.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tacho/middleware.h>
#include <unistd.h>
#if __has_include(<dds/features.h>)
#include <dds/features.h>
#endif

const char *const domain_transports[] = {"udp", "shm", NULL};
enum transport { UDP, SHM };

// Ports of higher domains do not exist (DDSI-RTPS 2.5, 9.6.2.3).
enum { HIGHEST_DOMAIN = 230 };

// Unless CYCLONEDDS_URI says otherwise. Traffic stays on this machine: a measurement must not disturb, nor be disturbed by,
// a vehicle network. Linux does loop multicast back on 127.0.0.1, though the interface does not say so. Found by multicast,
// participants need no port with their number in it, of which there are only 120 a domain.
static const char on_this_machine[] =
    "<CycloneDDS><Domain>"
    "<General><Interfaces><NetworkInterface address=\"127.0.0.1\" multicast=\"true\"/></Interfaces></General>"
    "<Discovery><ParticipantIndex>none</ParticipantIndex></Discovery>"
    "</Domain></CycloneDDS>";
#ifdef DDS_HAS_SHM
// With a prefix for each domain: iceoryx knows none, and would join those of the same topic name.
static const char through_shared_memory[] =
    ",<CycloneDDS><Domain><SharedMemory><Enable>true</Enable><LogLevel>error</LogLevel><Prefix>DDS_CYCLONE_%u</Prefix>"
    "</SharedMemory></Domain></CycloneDDS>";
#endif

struct domain {
  uint32_t id;
  enum transport transport;
  dds_entity_t entity;
  unsigned sessions;
  struct domain *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of what follows
static struct domain *domains;

// Shared memory must be known to work before Cyclone DDS is asked for it: without its daemon iceoryx ends the process.
static bool shared_memory_works(char *error) {
#ifdef DDS_HAS_SHM
  // The socket on which RouDi of iceoryx 2 hears of new processes.
  const struct sockaddr_un roudi = {.sun_family = AF_UNIX, .sun_path = "/tmp/roudi"};
  int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int refused = probe < 0 || connect(probe, (const struct sockaddr *)&roudi, sizeof roudi) < 0 ? errno : 0;
  if (probe >= 0) close(probe);
  if (!refused) return true;
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: transport \"shm\" needs the daemon of iceoryx, which does not answer on %s (%s): start iox-roudi "
           "(apt-get install iceoryx), or use \"udp\"", roudi.sun_path, strerror(refused));
#else
  snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"shm\" is not built into this Cyclone DDS (%s); expected \"udp\", "
           "or a 0.10 with iceoryx, as Debian's is", DDS_VERSION);
#endif
  return false;
}

static int transport_of(const char *name, char *error) {
  if (!*name || !strcmp(name, domain_transports[UDP])) return UDP;
  if (!strcmp(name, domain_transports[SHM])) return shared_memory_works(error) ? SHM : -1;
  snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"%s\" is not known; expected \"udp\" or \"shm\"", name);
  return -1;
}

// The user's own configuration stands alone where there is one; fragments are separated by commas.
static char *configuration(uint32_t id, enum transport transport) {
  const char *users = getenv("CYCLONEDDS_URI"), *base = users && *users ? users : on_this_machine;
  char *text = NULL, more[256] = "";
#ifdef DDS_HAS_SHM
  if (transport == SHM) snprintf(more, sizeof more, through_shared_memory, id);
#else
  (void)id, (void)transport;
#endif
  return asprintf(&text, "%s%s", base, more) < 0 ? NULL : text;
}

static struct domain *start(uint32_t id, enum transport transport, char *error) {
  struct domain *domain = calloc(1, sizeof *domain);
  char *text = configuration(id, transport);
  if (domain && text) {
    *domain = (struct domain){.id = id, .transport = transport, .entity = dds_create_domain(id, text), .next = domains};
    if (domain->entity > 0) {
      free(text);
      return domains = domain;
    }
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: domain %u: %s; configured by %s: %.600s", id, dds_strretcode(domain->entity),
             getenv("CYCLONEDDS_URI") ? "CYCLONEDDS_URI" : "the plugin", text);
  } else {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: no memory for domain %u", id);
  }
  free(text);
  free(domain);
  return NULL;
}

struct domain *domain_join(uint32_t id, const char *transport, char *error) {
  if (id > HIGHEST_DOMAIN) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: domain %u is too high; expected 0 to %d", id, HIGHEST_DOMAIN);
    return NULL;
  }
  pthread_mutex_lock(&mutex);
  int asked = transport_of(transport, error);
  struct domain *domain = asked < 0 ? NULL : domains;
  while (domain && domain->id != id) domain = domain->next;
  if (asked >= 0 && !domain) {
    domain = start(id, (enum transport)asked, error);
  } else if (domain && domain->transport != (enum transport)asked) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"%s\" in domain %u: this process already has that domain on "
             "\"%s\", and it can have only one; expected a domain or process of its own", domain_transports[asked], id,
             domain_transports[domain->transport]);
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
