// SPDX-License-Identifier: Apache-2.0
//
// without_licence PLUGIN.so checks everything that the real library shows without a licence. It refuses to open and
// names what is missing. Connext reads every profile that we can ask for, and prints in its own words what we meant.
// The layouts that we rely on are its own. Exits 77, skipped, if there is a licence, because the conformance suite then
// checks more.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>

#include "library.h"
#include "profile.h"

static char error[TACHO_ERROR_SIZE];
static char text[65536];

#define CHECK(condition, ...)                         \
  do {                                                \
    if (!(condition)) {                               \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
      exit(1);                                        \
    }                                                 \
  } while (0)
#define CHECK_SAYS(part) CHECK(strstr(text, part), "no %s in what Connext says:\n%s", part, text)
#define CHECK_SAYS_NO(part) CHECK(!strstr(text, part), "%s in what Connext says:\n%s", part, text)

static void opening_is_refused(const struct tacho_middleware *mw, const char *licence) {
  if (licence) setenv("RTI_LICENSE_FILE", licence, 1);
  struct tacho_session *session = mw->open(&(struct tacho_session_config){1, "", ""}, error);
  if (session) {
    mw->close(session);
    printf("skipped: there is a licence\n");
    exit(77);
  }
  CHECK(strstr(error, "licence file") && strstr(error, "RTI_LICENSE_FILE"), "no word of the licence: %s", error);
  CHECK(strstr(error, licence ? licence : "not set"), "what was found is not said: %s", error);
  CHECK(strstr(error, "[RTI LICENSE"), "Connext's own words are not said: %s", error);
}

static void is_refused(const struct tacho_middleware *mw, struct tacho_session_config config, const char *why) {
  CHECK(!mw->open(&config, error), "accepted: %s", why);
  CHECK(strstr(error, why), "refused with another text than \"%s\": %s", why, error);
}

static void say_participant(const struct connext *connext, enum transport transport, const char *address) {
  static struct connext_qos qos;
  char profile[PROFILE_SIZE];
  uint32_t size = sizeof text;
  profile_of_participant(profile, transport, address);
  CHECK(profile_use(connext, profile, error) == 0, "%s", error);
  connext->DDS_DomainParticipantQos_initialize(&qos);
  CHECK(connext->DDS_DomainParticipantFactory_get_participant_qos_from_profile(
            connext->DDS_DomainParticipantFactory_get_instance(), &qos, PROFILE_LIBRARY, PROFILE) == CONNEXT_OK,
        "not read: %s", profile);
  CHECK(connext->DDS_DomainParticipantQos_to_string(&qos, text, &size, NULL) == CONNEXT_OK, "not said");
  connext->DDS_DomainParticipantQos_finalize(&qos);
  profile_done();
}

static void say_endpoint(const struct connext *connext, int writes, struct tacho_qos asked, size_t bytes) {
  static struct connext_qos qos;
  char profile[PROFILE_SIZE];
  uint32_t size = sizeof text;
  void *factory = connext->DDS_DomainParticipantFactory_get_instance();
  profile_of_endpoint(profile, writes, &asked, bytes);
  CHECK(profile_use(connext, profile, error) == 0, "%s", error);
  (writes ? connext->DDS_DataWriterQos_initialize : connext->DDS_DataReaderQos_initialize)(&qos);
  CHECK((writes ? connext->DDS_DomainParticipantFactory_get_datawriter_qos_from_profile
                : connext->DDS_DomainParticipantFactory_get_datareader_qos_from_profile)(factory, &qos, PROFILE_LIBRARY,
                                                                                         PROFILE) == CONNEXT_OK,
        "not read: %s", profile);
  CHECK((writes ? connext->DDS_DataWriterQos_to_string : connext->DDS_DataReaderQos_to_string)(&qos, text, &size,
                                                                                               NULL) == CONNEXT_OK,
        "not said");
  (writes ? connext->DDS_DataWriterQos_finalize : connext->DDS_DataReaderQos_finalize)(&qos);
  profile_done();
}

// Connext prints what differs from its defaults: a writer is reliable, a reader best effort, both volatile, keep last
// 1.
static void profiles_say_what_was_asked(const struct connext *connext) {
  for (int writes = 0; writes < 2; writes++)
    for (unsigned bits = 0; bits < 8; bits++) {
      struct tacho_qos asked = {bits & 1, bits >> 1 & 1, bits >> 2 & 1, 37};
      say_endpoint(connext, writes, asked, 64);
      if ((asked.reliability == TACHO_RELIABLE) == writes)
        CHECK_SAYS_NO("_RELIABILITY_QOS");
      else if (writes)
        CHECK_SAYS("BEST_EFFORT_RELIABILITY_QOS");
      else
        CHECK_SAYS(">RELIABLE_RELIABILITY_QOS");
      if (asked.durability == TACHO_TRANSIENT_LOCAL)
        CHECK_SAYS("TRANSIENT_LOCAL_DURABILITY_QOS");
      else
        CHECK_SAYS_NO("_DURABILITY_QOS");
      if (asked.history == TACHO_KEEP_ALL)
        CHECK_SAYS("KEEP_ALL_HISTORY_QOS");
      else
        CHECK_SAYS("<depth>37</depth>");
      CHECK_SAYS("<value>88</value>");  // 64 bytes and our header
      CHECK_SAYS_NO("ASYNCHRONOUS_PUBLISH_MODE_QOS");
    }
  say_endpoint(connext, 1, (struct tacho_qos){TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 10}, 2 << 20);
  CHECK_SAYS("ASYNCHRONOUS_PUBLISH_MODE_QOS");
  CHECK_SAYS("DURATION_INFINITE");
}

static void participants_stay_where_they_should(const struct connext *connext) {
  say_participant(connext, UDP, "");
  CHECK_SAYS("<mask>UDPv4</mask>");
  CHECK_SAYS("@builtin.udpv4://127.0.0.1");
  CHECK_SAYS("<value>127.0.0.1</value>");
  CHECK_SAYS_NO("239.255.0.1");
  say_participant(connext, UDP, "10.77.1.1");
  CHECK_SAYS("<value>10.77.1.1</value>");
  CHECK_SAYS("builtin.udpv4://239.255.0.1");
  CHECK_SAYS_NO("127.0.0.1");
  say_participant(connext, SHM, "");
  CHECK_SAYS("<mask>SHMEM</mask>");
  CHECK_SAYS_NO("udpv4://");
}

// Lets Connext itself read the bytes where we look for valid_data.
static void valid_data_is_where_we_look(void) {
  void *library = dlopen(TACHO_CONNEXT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  int (*initialize)(void *), (*to_json)(const void *, char *, uint32_t *, const void *);
  void *symbols[2] = {dlsym(library, "DDS_SampleInfo_initialize"), dlsym(library, "DDS_SampleInfoFormatter_to_json")};
  CHECK(symbols[0] && symbols[1], "%s", dlerror());
  memcpy(&initialize, &symbols[0], sizeof initialize);
  memcpy(&to_json, &symbols[1], sizeof to_json);
  struct connext_sequence info;
  for (int valid = 0; valid < 2; valid++) {
    memset(&info, 0, sizeof info);
    initialize(&info);
    for (int state = 0; state < 3; state++)
      ((uint32_t *)(void *)info.room)[state] = 1;  // not read, new, alive: otherwise it prints nothing
    info.room[CONNEXT_VALID_DATA] = (unsigned char)valid;
    uint32_t size = sizeof text;
    CHECK(to_json(&info, text, &size, NULL) == CONNEXT_OK, "not said");
    CHECK_SAYS(valid ? "\"valid_data\":true" : "\"valid_data\":false");
  }
}

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: without_licence PLUGIN.so");
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library, "%s", dlerror());
  void *symbol = dlsym(library, "tacho_middleware");
  const struct tacho_middleware *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  CHECK(entry && entry()->abi == TACHO_MIDDLEWARE_ABI, "no tacho_middleware of ABI %u", TACHO_MIDDLEWARE_ABI);
  const struct tacho_middleware *mw = entry();
  char version[64];
  CHECK(mw->version(version, sizeof version, error) == 0, "%s", error);
  CHECK(!strncmp(version, "RTI Connext 7.", 14), "version %s", version);
  if (!getenv("RTI_LICENSE_FILE")) opening_is_refused(mw, NULL);
  opening_is_refused(mw, "/nonexistent/rti_license.dat");
  is_refused(mw, (struct tacho_session_config){1, "carrier pigeon", ""}, "carrier pigeon");
  is_refused(mw, (struct tacho_session_config){233, "", ""}, "233");
  is_refused(mw, (struct tacho_session_config){1, "shm", "10.0.0.1"}, "does not leave this machine");
  const struct connext *connext = connext_library(error);
  CHECK(connext, "%s", error);
  profiles_say_what_was_asked(connext);
  participants_stay_where_they_should(connext);
  valid_data_is_where_we_look();
  printf("ok: %s\n", version);
}
