/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library of RTI Connext 7, opened at run time. Its wheel has no headers, so the used part of its documented C
 * API is declared here, with addresses for handles and structures. So we rely on few layouts: those of the four structs
 * below.
 */
#ifndef TACHO_CONNEXT_LIBRARY_H_
#define TACHO_CONNEXT_LIBRARY_H_

#include <stdint.h>
#include <stdio.h>

/* Room for a structure of Connext that is only passed on: QoS (the largest seen takes some 7 KB), sequences (56 B). */
struct connext_qos {
  _Alignas(16) unsigned char room[65536];
};
struct connext_sequence {
  _Alignas(16) unsigned char room[512];
};

/* The built-in type DDS::Octets. */
struct connext_octets {
  int32_t length;
  unsigned char *value;
};

/* DDS_PublicationMatchedStatus and DDS_SubscriptionMatchedStatus begin with these. */
struct connext_matched {
  int32_t total_count, total_count_change, current_count;
  unsigned char rest[244];
};

/* DDS_DataReaderListener. */
struct connext_listener {
  void *data;
  void (*others_before[4])(void); /* deadline missed, incompatible QoS, sample rejected, liveliness changed */
  void (*on_data_available)(void *data, void *reader);
  void (*others_behind[6])(void); /* sample lost, subscription matched */
};

enum { CONNEXT_OK = 0, CONNEXT_NO_DATA = 11 };
enum { CONNEXT_ANY_STATE = 0xffff, CONNEXT_DATA_AVAILABLE = 1 << 10 };
enum { CONNEXT_VALID_DATA = 100 };    /* offset of valid_data in DDS_SampleInfo */
enum { CONNEXT_STRING_PROFILE = 16 }; /* offset of profile.string_profile in DDS_DomainParticipantFactoryQos */

#define CONNEXT_API(X)                                                                                          \
  X(void *, DDS_DomainParticipantFactory_get_instance, (void))                                                  \
  X(int, DDS_DomainParticipantFactory_get_qos, (void *factory, void *qos))                                      \
  X(int, DDS_DomainParticipantFactory_set_qos, (void *factory, const void *qos))                                \
  X(int, DDS_DomainParticipantFactory_reload_profiles, (void *factory))                                         \
  X(void *, DDS_DomainParticipantFactory_create_participant_with_profile,                                       \
    (void *factory, int domain, const char *library, const char *profile, const void *listener, unsigned mask)) \
  X(int, DDS_DomainParticipantFactory_get_datawriter_qos_from_profile,                                          \
    (void *factory, void *qos, const char *library, const char *profile))                                       \
  X(int, DDS_DomainParticipantFactory_get_datareader_qos_from_profile,                                          \
    (void *factory, void *qos, const char *library, const char *profile))                                       \
  X(int, DDS_DomainParticipantFactory_get_participant_qos_from_profile,                                         \
    (void *factory, void *qos, const char *library, const char *profile))                                       \
  X(int, DDS_DomainParticipantFactory_delete_participant, (void *factory, void *participant))                   \
  X(int, DDS_DomainParticipantFactoryQos_initialize, (void *qos))                                               \
  X(int, DDS_DomainParticipantFactoryQos_finalize, (void *qos))                                                 \
  X(int, DDS_DomainParticipantQos_initialize, (void *qos))                                                      \
  X(int, DDS_DomainParticipantQos_finalize, (void *qos))                                                        \
  X(int, DDS_DomainParticipantQos_to_string, (const void *qos, char *out, uint32_t *size, const void *format))  \
  X(int, DDS_DataWriterQos_initialize, (void *qos))                                                             \
  X(int, DDS_DataWriterQos_finalize, (void *qos))                                                               \
  X(int, DDS_DataWriterQos_to_string, (const void *qos, char *out, uint32_t *size, const void *format))         \
  X(int, DDS_DataReaderQos_initialize, (void *qos))                                                             \
  X(int, DDS_DataReaderQos_finalize, (void *qos))                                                               \
  X(int, DDS_DataReaderQos_to_string, (const void *qos, char *out, uint32_t *size, const void *format))         \
  X(unsigned char, DDS_StringSeq_from_array, (void *sequence, const char *const *array, int length))            \
  X(const char *, DDS_OctetsTypeSupport_get_type_name, (void))                                                  \
  X(int, DDS_OctetsTypeSupport_register_type, (void *participant, const char *name))                            \
  X(void *, DDS_DomainParticipant_create_topic_with_profile,                                                    \
    (void *participant, const char *topic, const char *type, const char *library, const char *profile,          \
     const void *listener, unsigned mask))                                                                      \
  X(void *, DDS_DomainParticipant_lookup_topicdescription, (void *participant, const char *topic))              \
  X(void *, DDS_DomainParticipant_create_datawriter,                                                            \
    (void *participant, void *topic, const void *qos, const void *listener, unsigned mask))                     \
  X(void *, DDS_DomainParticipant_create_datareader,                                                            \
    (void *participant, void *topic, const void *qos, const void *listener, unsigned mask))                     \
  X(int, DDS_DomainParticipant_delete_contained_entities, (void *participant))                                  \
  X(int, DDS_DataReader_set_listener, (void *reader, const void *listener, unsigned mask))                      \
  X(int, DDS_DataWriter_get_publication_matched_status, (void *writer, void *status))                           \
  X(int, DDS_DataReader_get_subscription_matched_status, (void *reader, void *status))                          \
  X(int, DDS_OctetsDataWriter_write, (void *writer, const void *octets, const void *instance))                  \
  X(int, DDS_OctetsDataReader_take,                                                                             \
    (void *reader, void *samples, void *infos, int most, unsigned sample, unsigned view, unsigned instance))    \
  X(int, DDS_OctetsDataReader_read,                                                                             \
    (void *reader, void *samples, void *infos, int most, unsigned sample, unsigned view, unsigned instance))    \
  X(int, DDS_OctetsDataReader_return_loan, (void *reader, void *samples, void *infos))                          \
  X(unsigned char, DDS_OctetsSeq_initialize, (void *sequence))                                                  \
  X(void *, DDS_OctetsSeq_get_reference, (void *sequence, int at))                                              \
  X(unsigned char, DDS_SampleInfoSeq_initialize, (void *sequence))                                              \
  X(void *, DDS_SampleInfoSeq_get_reference, (void *sequence, int at))                                          \
  X(const unsigned char *, NDDS_Config_Version_get_product_version, (void))                                     \
  X(void *, NDDS_Config_Logger_get_instance, (void))                                                            \
  X(unsigned char, NDDS_Config_Logger_set_output_file, (void *logger, FILE *file))

/* Connext's functions by their own names. */
struct connext {
#define CONNEXT_MEMBER(result, name, arguments) result(*name) arguments;
  CONNEXT_API(CONNEXT_MEMBER)
#undef CONNEXT_MEMBER
  const void *no_instance; /* DDS_HANDLE_NIL */
};

/* Opens the library once in the process, and makes sure that it is a Connext 7. NULL: the cause is in `error`. */
const struct connext *connext_library(char *error);

#endif
