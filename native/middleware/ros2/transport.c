// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <rmw/rmw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const ros2_transports[] = {"default", "udp", "shm", "data-sharing", NULL};
enum transport { DEFAULT, UDP, SHM, DATA_SHARING, OF_RMW, UNKNOWN };

static const char fast_dds[] = "rmw_fastrtps_cpp";
static const char this_machine[] = "127.0.0.1";

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of what follows
static enum transport transport = UNKNOWN;                 // of this process, once it has one
static char name[64], address[INET_ADDRSTRLEN];
static char profile[256];  // the file, until it was read

// Participants find each other by multicast, which Linux also loops back on 127.0.0.1. With a list of peers, as the
// range LOCALHOST of rmw_fastrtps uses, at most 32 would. Shared memory carries messages of the size that UDP does, as
// in Fast DDS's default.
static const char participant[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<dds xmlns=\"http://www.eprosima.com\"><profiles>"
    "<transport_descriptors>"
    "<transport_descriptor><transport_id>udp</transport_id><type>UDPv4</type>"
    "<interfaceWhiteList><address>%s</address></interfaceWhiteList></transport_descriptor>"
    "<transport_descriptor><transport_id>shm</transport_id><type>SHM</type>"
    "<maxMessageSize>65500</maxMessageSize></transport_descriptor>"
    "</transport_descriptors>"
    "<participant profile_name=\"tacho\" is_default_profile=\"true\"><rtps>"
    "<userTransports>%s%s</userTransports><useBuiltinTransports>false</useBuiltinTransports>"
    // A killed process counts as gone after 10 s, not 20. Discovery messages may exceed 5000 bytes, which rmw_fastrtps
    // allows unless a profile decides it.
    "<builtin><discovery_config><leaseDuration><sec>10</sec></leaseDuration></"
    "discovery_config><readerHistoryMemoryPolicy>PREALLOCATED_WITH_REALLOC</readerHistoryMemoryPolicy>"
    "<writerHistoryMemoryPolicy>PREALLOCATED_WITH_REALLOC</writerHistoryMemoryPolicy></builtin>"
    // No process asks a peer for its types, because all nodes know the types of their topics. In Fast DDS 3, up to 3.6
    // at least, the thread that handles the answers (dds.tls.replies) calls a list of callbacks to which discovery adds
    // without a lock, and may crash.
    "<propertiesPolicy><properties><property><name>fastdds.type_propagation</name><value>disabled</value></property></"
    "properties>"
    "</propertiesPolicy></rtps></participant>%s"
    "</profiles></dds>";
#define USES(id) "<transport_id>" id "</transport_id>"

// rmw_fastrtps turns data sharing off unless all QoS that ROS does not name is taken from the profile
// (RMW_FASTRTPS_USE_QOS_FROM_XML). Of its own topics' the types have no fixed size, and stay as they are without a profile.
#define ENDPOINT(kind, of, memory, sharing)                           \
  "<" kind " profile_name=\"" of "><qos><data_sharing><kind>" sharing \
  "</kind></data_sharing></qos>"                                      \
  "<historyMemoryPolicy>" memory "</historyMemoryPolicy></" kind ">"
#define ENDPOINTS(kind)                                                                       \
  ENDPOINT(kind, "tacho_" kind "\" is_default_profile=\"true\"", "PREALLOCATED", "AUTOMATIC") \
  ENDPOINT(kind, "ros_discovery_info\"", "PREALLOCATED_WITH_REALLOC", "OFF")
static const char data_sharing[] = ENDPOINTS("data_writer") ENDPOINTS("data_reader");

static bool is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

// Returns the variable by which the user has configured Fast DDS; NULL: none.
static const char *users_own(void) {
  static const char *const variables[] = {"FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE",
                                          "FASTDDS_BUILTIN_TRANSPORTS"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (is_set(variables[i])) return variables[i];
  return NULL;
}

static enum transport transport_of(const char *asked) {
  if (!*asked) return DEFAULT;
  if (!strncmp(asked, "rmw_", 4)) return OF_RMW;
  for (int i = 0; ros2_transports[i]; i++)
    if (!strcmp(asked, ros2_transports[i])) return (enum transport)i;
  return UNKNOWN;
}

static bool is_of_an_interface(const char *asked) {
  struct in_addr wanted;
  struct ifaddrs *interfaces = NULL;
  bool found = false;
  if (inet_pton(AF_INET, asked, &wanted) == 1 && getifaddrs(&interfaces) == 0)
    for (const struct ifaddrs *at = interfaces; at; at = at->ifa_next)
      found |= at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
               ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr == wanted.s_addr;
  freeifaddrs(interfaces);
  return found;
}

static bool can_be(enum transport asked, const struct tacho_session_config *config, char *error) {
  const bool named = asked != DEFAULT || *config->address;
  const char *users = named ? users_own() : NULL;
  if (asked == UNKNOWN) {
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\" is not known; expected \"default\" (shared memory and UDP), \"udp\", \"shm\", "
             "\"data-sharing\" or the name of an rmw",
             config->transport);
    return false;
  }
  // rmw_implementation chooses it at run time, if the plugin was built on a ROS 2 that has it.
  if (asked == OF_RMW && !is_set("RMW_IMPLEMENTATION")) setenv("RMW_IMPLEMENTATION", config->transport, 1);
  const char *rmw = rmw_get_implementation_identifier();
  const bool on_fast_dds = !strcmp(rmw, fast_dds);
  if (asked == OF_RMW && strcmp(rmw, config->transport))
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\": the rmw of this process is %s; expected a sourced ROS 2 with that "
             "rmw installed, the plugin built on it, and RMW_IMPLEMENTATION unset or the same",
             config->transport, rmw);
  else if (!on_fast_dds && (*config->address || (asked != DEFAULT && asked != OF_RMW)))
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\", address \"%s\": not known how to set that up for %s; expected "
             "RMW_IMPLEMENTATION=%s, or the default transport on this machine",
             config->transport, config->address, rmw, fast_dds);
  else if (users)
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\", address \"%s\": %s is set, which says its own; unset it, or ask for "
             "the default transport on this machine",
             config->transport, config->address, users);
  else if (*config->address && !is_of_an_interface(config->address))
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: address \"%s\" is no IPv4 address of this machine; expected one of `ip -4 address`",
             config->address);
  else if (*config->address && (asked == SHM || asked == DATA_SHARING))
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\" does not leave this machine, but an address (%s) was given; expected "
             "\"udp\"",
             config->transport, config->address);
  else
    return true;
  return false;
}

// Writes the profile into a file, and names it in the variable that this Fast DDS reads.
static bool give_profile(enum transport asked, const char *interface, char *error) {
  char text[4096];
  const char *folder = getenv("TMPDIR");
  // Network namespaces of one machine share its memory, but with an address messages must use the link.
  const bool shared_memory = asked != UDP && !*interface, udp = asked != SHM;
  const int length =
      snprintf(text, sizeof text, participant, *interface ? interface : this_machine, shared_memory ? USES("shm") : "",
               udp ? USES("udp") : "", asked == DATA_SHARING ? data_sharing : "");
  const int path =
      snprintf(profile, sizeof profile, "%s/tacho-fastdds-XXXXXX.xml", folder && *folder ? folder : "/tmp");
  const int file = path < (int)sizeof profile ? mkostemps(profile, (int)strlen(".xml"), O_CLOEXEC) : -1;
  const bool written = file >= 0 && length < (int)sizeof text && write(file, text, (size_t)length) == length;
  if (!written) {
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: %.200s: the profile for Fast DDS could not be written: %m; expected a writable TMPDIR", profile);
    if (file >= 0) unlink(profile);
    *profile = 0;
  }
  if (file >= 0) close(file);
  if (!written) return false;
  setenv(TACHO_PROFILES_VARIABLE, profile, 1);
  if (asked == DATA_SHARING) setenv("RMW_FASTRTPS_USE_QOS_FROM_XML", "1", 1);
  return true;
}

void ros2_transport_read(void) {
  pthread_mutex_lock(&mutex);
  if (*profile) {
    unlink(profile);
    unsetenv(TACHO_PROFILES_VARIABLE);
    *profile = 0;
  }
  pthread_mutex_unlock(&mutex);
}

static bool set_up(const struct tacho_session_config *config, char *error) {
  const enum transport asked = transport_of(config->transport);
  const char *asked_name = *config->transport ? config->transport : ros2_transports[DEFAULT];
  if (transport != UNKNOWN) {  // refuse unknown ones even if the process has a transport already
    if (asked != UNKNOWN && !strcmp(asked_name, name) && !strcmp(config->address, address)) return true;
    if (!can_be(asked, config, error)) return false;
    snprintf(error, TACHO_ERROR_SIZE,
             "ros2: transport \"%s\", address \"%s\": this process is already on \"%s\", \"%s\", and can have "
             "only one; expected a process of its own",
             asked_name, config->address, name, address);
    return false;
  }
  if (!can_be(asked, config, error)) return false;
  const bool ours = !strcmp(rmw_get_implementation_identifier(), fast_dds) && !users_own();
  if (ours && !give_profile(asked, config->address, error)) return false;
  transport = asked;
  snprintf(name, sizeof name, "%s", asked_name);
  snprintf(address, sizeof address, "%s", config->address);
  return true;
}

// Without a profile of ours, rmw keeps discovery and traffic on this machine, because a measurement must neither
// disturb a vehicle network nor be disturbed by it.
static void set_range(rmw_init_options_t *options, bool ours) {
#if __has_include(<rmw/discovery_options.h>)
  options->discovery_options.automatic_discovery_range =
      ours ? RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT : RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
#else
  options->localhost_only = ours ? RMW_LOCALHOST_ONLY_DISABLED : RMW_LOCALHOST_ONLY_ENABLED;  // Humble
#endif
}

bool ros2_transport_set_up(const struct tacho_session_config *config, rmw_init_options_t *options, char *error) {
  static bool ours;
  pthread_mutex_lock(&mutex);
  const bool first = transport == UNKNOWN, done = set_up(config, error);
  if (first && done) ours = *profile != 0;
  if (done) set_range(options, ours);
  pthread_mutex_unlock(&mutex);
  return done;
}

bool ros2_transport_shares_data(void) {
  pthread_mutex_lock(&mutex);
  const bool shares = transport == DATA_SHARING;
  pthread_mutex_unlock(&mutex);
  return shares;
}
