/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "storage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clock.h"
#include "descriptor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define MAX_BYTES (UINT64_C(1) << 30)
#define SEGMENT_SIZE ((uint64_t)SEGMENT_CHUNKS * TACHO_CHUNK_SIZE)
#define MAPPING_SIZE (SEGMENT_SIZE + TACHO_HEADER_SIZE)
/* In chunks: 4 MiB. The step is small because the kernel lets no other thread grow the file during it. */
#define GROWTH_STEP 128u
/* The chunks that a thread of the program makes if it needs one and cannot wait for the keeper. */
#define CHUNKS_WITH_ONE 16u

struct tacho_file_header *storage_header;
_Atomic(char *) *_Atomic storage_blocks[BLOCKS_MAX];

/* The last growth failed, and not because of the limit. The program's threads do not try again until the keeper
 * succeeds. */
static atomic_bool refused;

/* The file stays open for fallocate and further mappings, unless that would take one of the program's last descriptors.
 * A program may close it, so we check it before each use and open it again by path if necessary. */
static struct {
  _Atomic int fd;         /* -1: no descriptor is kept */
  bool zeros_are_written; /* fallocate does not work here */
  dev_t device;
  ino_t inode;
  char path[4096];
} file = {.fd = -1};

_Static_assert(sizeof(struct tacho_file_header) <= TACHO_HEADER_SIZE, "the header fits its page");
_Static_assert(sizeof(struct tacho_chunk_header) == 64, "the chunk header is what docs/event-file.md says");

static bool is_our_file(int fd) {
  struct stat found;
  return fd >= 0 && fstat(fd, &found) == 0 && found.st_dev == file.device && found.st_ino == file.inode;
}

/* Returns a descriptor of the file; -1: errno holds the reason. `passing`: the caller must close it after use. */
static int borrow_file(bool *passing) {
  bool keep;
  int kept = atomic_load(&file.fd);
  *passing = false;
  if (is_our_file(kept)) return kept;
  int fd = descriptor_open(file.path, O_RDWR | O_NOFOLLOW, 0, &keep);
  if (!is_our_file(fd)) {
    int cause = fd < 0 ? errno : ESTALE;
    if (fd >= 0) close(fd);
    errno = cause;
    return -1;
  }
  *passing = !keep || !atomic_compare_exchange_strong(&file.fd, &kept, fd);
  return fd;
}

/* Allocates storage with fallocate. If the file system has none (NFS 3), writes zeros. Storage must exist before it is
 * mapped and used, because a write to a mapping without room on the disk raises SIGBUS. fallocate keeps bytes that are
 * in use already; writing zeros does not. */
static int allocate(int fd, uint64_t from, uint64_t to) {
  static const char zeros[65536];
  if (!file.zeros_are_written) {
    if (fallocate(fd, 0, (off_t)from, (off_t)(to - from)) == 0) return 0;
    if (from > 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return errno;
    /* The first allocation, that of the header, finds this out before there are other threads. */
    file.zeros_are_written = true;
  }
  while (from < to) {
    size_t size = to - from < sizeof zeros ? to - from : sizeof zeros;
    ssize_t written = pwrite(fd, zeros, size, (off_t)from);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    from += (uint64_t)written;
  }
  return 0;
}

/* Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends the program, so we never ask for more. */
static uint64_t file_size_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

/* Returns the place of a segment's address. Its page of addresses must exist. */
static _Atomic(char *) *segment_slot(uint64_t segment) {
  return &storage_blocks[segment / BLOCK_SEGMENTS][segment % BLOCK_SEGMENTS];
}

/* Maps a segment unless it is mapped. Threads may do so at once: only one mapping stays. False: errno holds the reason. */
static bool map(int fd, uint64_t segment) {
  _Atomic(char *) *_Atomic *block = &storage_blocks[segment / BLOCK_SEGMENTS];
  _Atomic(char *) *no_page = NULL;
  if (*block == NULL) {
    const size_t size = BLOCK_SEGMENTS * sizeof **block;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    if (!atomic_compare_exchange_strong(block, &no_page, page)) munmap(page, size);
  }
  char *none = NULL;
  if (*segment_slot(segment) != NULL) return true;
  void *at = mmap(NULL, MAPPING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(segment * SEGMENT_SIZE));
  if (at == MAP_FAILED) return false;
  if (!atomic_compare_exchange_strong(segment_slot(segment), &none, at)) munmap(at, MAPPING_SIZE);
  return true;
}

uint64_t storage_chunks_max(void) {
  uint64_t most = atomic_load_explicit(storage_live(&storage_header->chunks_max), memory_order_relaxed);
  return most < TACHO_CHUNKS_LIMIT ? most : TACHO_CHUNKS_LIMIT;
}

/* Returns how many of the wanted chunks the file may have by its own limit and by RLIMIT_FSIZE. Only the latter is
 * reported as a cause. */
static uint64_t chunks_granted(uint64_t wanted, int *cause) {
  uint64_t most = storage_chunks_max();
  uint64_t limit = file_size_limit();
  uint64_t fitting = limit < TACHO_HEADER_SIZE ? 0 : (limit - TACHO_HEADER_SIZE) / TACHO_CHUNK_SIZE;
  uint64_t chunks = wanted < most ? wanted : most;
  if (chunks <= fitting) return chunks;
  *cause = EFBIG;
  return fitting;
}

/* Backs chunks [have, chunks) with storage and maps them, or as many of them as possible. Returns the total number of
 * chunks. */
static uint64_t make_chunks(int fd, uint64_t have, uint64_t chunks, int *cause) {
  /* To use a nearly full disk to its last chunk, halve the step until it fits. */
  while (chunks > have) {
    int error =
        allocate(fd, TACHO_HEADER_SIZE + have * TACHO_CHUNK_SIZE, TACHO_HEADER_SIZE + chunks * TACHO_CHUNK_SIZE);
    if (error == 0) break;
    if (error != EINTR) {
      *cause = error;
      chunks = have + (chunks - have) / 2;
    }
  }
  /* The segment of the last chunk before these was mapped with it, and may be unmapped again by now. */
  uint64_t segment = (have + SEGMENT_CHUNKS - 1) / SEGMENT_CHUNKS;
  for (; chunks > have && segment <= (chunks - 1) / SEGMENT_CHUNKS; segment++) {
    if (!map(fd, segment)) {
      *cause = errno;
      chunks = segment * SEGMENT_CHUNKS;
    }
  }
  return chunks;
}

bool storage_grow(uint64_t wanted) {
  _Atomic uint64_t *allocated = storage_live(&storage_header->chunks_allocated);
  uint64_t have = atomic_load_explicit(allocated, memory_order_acquire);
  if (wanted <= have) return true;
  int cause = 0;
  uint64_t granted = chunks_granted(wanted, &cause);
  bool passing = false;
  int fd = granted > have ? borrow_file(&passing) : -1;
  if (granted > have && fd < 0) {
    cause = errno;
    granted = have;
  }
  while (have < granted) {
    uint64_t step = granted - have > GROWTH_STEP ? have + GROWTH_STEP : granted;
    uint64_t made = make_chunks(fd, have, step, &cause);
    /* Concurrent growers start inside backed storage, so the largest count is correct. */
    while (have < made &&
           !atomic_compare_exchange_weak_explicit(allocated, &have, made, memory_order_release, memory_order_relaxed)) {
    }
    if (made < step) break;
    if (have < made) have = made;
  }
  if (passing) close(fd);
  if (cause != 0)
    atomic_store_explicit(storage_live(&storage_header->storage_error), (uint64_t)cause, memory_order_relaxed);
  bool grown = atomic_load_explicit(allocated, memory_order_acquire) >= wanted;
  atomic_store_explicit(&refused, !grown, memory_order_relaxed);
  return grown;
}

bool storage_is_used_up(void) {
  uint64_t reserved = atomic_load_explicit(storage_live(&storage_header->chunks_reserved), memory_order_relaxed);
  if (reserved < atomic_load_explicit(storage_live(&storage_header->chunks_allocated), memory_order_relaxed))
    return false;
  return reserved >= storage_chunks_max() || atomic_load_explicit(&refused, memory_order_relaxed);
}

bool storage_make(uint64_t chunk) {
  if (file.zeros_are_written || atomic_load_explicit(&refused, memory_order_relaxed) || chunk >= storage_chunks_max())
    return false;
  int cancel, saved = errno;
  sigset_t all, signals;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals); /* a handler that forks here would continue here in the child */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  uint64_t most = storage_chunks_max();
  storage_grow(most - chunk > CHUNKS_WITH_ONE ? chunk + CHUNKS_WITH_ONE : most);
  pthread_setcancelstate(cancel, NULL);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  errno = saved;
  return chunk < atomic_load_explicit(storage_live(&storage_header->chunks_allocated), memory_order_acquire);
}

void storage_unmap_what_was_let_go(void) {
  struct tacho_file_header *header = storage_header;
  for (unsigned i = 0; i < sizeof header->unmap / sizeof *header->unmap; i++) {
    uint64_t told = atomic_load_explicit(storage_live(&header->unmap[i]), memory_order_acquire);
    if (told == 0) continue;
    uint64_t segment = told - 1;
    /* The header lies in segment 0, and segments that are not fully mapped yet cannot have been released. Ignore such
     * numbers: we did not write them. */
    uint64_t allocated = atomic_load_explicit(storage_live(&header->chunks_allocated), memory_order_relaxed);
    char *mapping = segment > 0 && segment < allocated / SEGMENT_CHUNKS ? atomic_load(segment_slot(segment)) : NULL;
    if (mapping != NULL) {
      /* Clear the address first: a child that is forked now would otherwise unmap what is mapped there by then. */
      atomic_store(segment_slot(segment), NULL);
      munmap(mapping, MAPPING_SIZE);
    }
    atomic_store_explicit(storage_live(&header->unmap[i]), 0, memory_order_release);
  }
}

void storage_populate(uint64_t from, uint64_t to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  while (from < to) {
    uint64_t segment_end = (from / SEGMENT_CHUNKS + 1) * SEGMENT_CHUNKS;
    uint64_t upto = to < segment_end ? to : segment_end;
    uintptr_t start = (uintptr_t)storage_chunk(from) & ~(page - 1);
    uintptr_t end = (uintptr_t)storage_chunk(from) + (upto - from) * TACHO_CHUNK_SIZE;
    if (madvise((void *)start, end - start, MADV_POPULATE_WRITE) != 0) {
      /* Before Linux 5.14: an atomic addition of 0 takes the write fault and changes nothing, even if a thread writes
       * there now. */
      for (uintptr_t at = (uintptr_t)storage_chunk(from); at < end; at += page) {
        atomic_fetch_add_explicit((_Atomic uint64_t *)at, 0, memory_order_relaxed);
      }
    }
    from = upto;
  }
}

void storage_give_back(uint64_t from, uint64_t to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  while (from < to) {
    uint64_t segment_end = (from / SEGMENT_CHUNKS + 1) * SEGMENT_CHUNKS;
    uint64_t upto = to < segment_end ? to : segment_end;
    if (*segment_slot(from / SEGMENT_CHUNKS) == NULL) { /* released and unmapped */
      from = upto;
      continue;
    }
    uintptr_t start = ((uintptr_t)storage_chunk(from) + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)storage_chunk(from) + (upto - from) * TACHO_CHUNK_SIZE) & ~(page - 1);
    /* A shared mapping of a file loses nothing by this. If a kernel refuses, the pages stay resident. */
    madvise((void *)start, end - start, MADV_DONTNEED);
    from = upto;
  }
}

bool storage_punch(uint64_t from, uint64_t to) {
  static atomic_bool impossible;
  if (atomic_load_explicit(&impossible, memory_order_relaxed) || !is_our_file(file.fd)) return false;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  bool done = fallocate(file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) == 0;
  if (!done && errno != EINTR) atomic_store_explicit(&impossible, true, memory_order_relaxed);
  pthread_setcancelstate(cancel, NULL);
  return done;
}

void storage_leave_to_parent(bool writing) {
  if (storage_header == NULL) return;
  for (uint64_t segment = 0; segment < BLOCKS_MAX * BLOCK_SEGMENTS; segment++) {
    if (storage_blocks[segment / BLOCK_SEGMENTS] == NULL) break;
    char *mapping = atomic_exchange(segment_slot(segment), NULL);
    if (mapping == NULL) continue;
    if (writing) {
      mmap(mapping, MAPPING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0);
    } else {
      munmap(mapping, MAPPING_SIZE);
    }
  }
  if (!writing) storage_header = NULL;
  if (is_our_file(file.fd)) close(file.fd);
  file.fd = -1;
}

static void read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = '\0';
}

static void describe_process(struct tacho_file_header *header) {
  header->pid = (uint32_t)getpid();
  header->ppid = (uint32_t)getppid();
  read_text("/proc/sys/kernel/random/boot_id", header->boot_id, sizeof header->boot_id);
  header->boot_id[strcspn(header->boot_id, "\n")] = '\0';
  struct utsname system;
  if (uname(&system) == 0) snprintf(header->host, sizeof header->host, "%.63s", system.nodename);
  ssize_t length = readlink("/proc/self/exe", header->executable, sizeof header->executable - 1);
  header->executable[length > 0 ? length : 0] = '\0';

  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  length = fd < 0 ? 0 : read(fd, header->command, sizeof header->command - 1);
  if (fd >= 0) close(fd);
  while (length > 0 && header->command[length - 1] == '\0') length--;
  for (ssize_t i = 0; i < length; i++) {
    if (header->command[i] == '\0') header->command[i] = ' ';
  }
}

uint64_t storage_max_bytes(void) {
  const char *text = getenv("TACHO_EVENTS_MAX_BYTES");
  if (text == NULL || *text == '\0') return MAX_BYTES;
  char *end;
  errno = 0;
  unsigned long long bytes = strtoull(text, &end, 10);
  if (errno == 0 && *end == '\0' && *text >= '0' && *text <= '9') return bytes;
  fprintf(stderr, "tacho: TACHO_EVENTS_MAX_BYTES is '%s', a number of bytes was expected: using %llu\n", text,
          (unsigned long long)MAX_BYTES);
  return MAX_BYTES;
}

int storage_open(const char *directory, uint64_t max_bytes, uint64_t ahead, char *error, unsigned error_size) {
  uint64_t now = clock_ns(CLOCK_MONOTONIC);
  int length =
      snprintf(file.path, sizeof file.path, "%s/%d-%llu.events", directory, (int)getpid(), (unsigned long long)now);
  if (length < 0 || (size_t)length >= sizeof file.path) {
    snprintf(error, error_size, "%.64s...: a path of less than 4096 bytes was expected", directory);
    return ENAMETOOLONG;
  }
  if (max_bytes < TACHO_HEADER_SIZE + TACHO_CHUNK_SIZE || file_size_limit() < TACHO_HEADER_SIZE + TACHO_CHUNK_SIZE) {
    snprintf(error, error_size, "%s: TACHO_EVENTS_MAX_BYTES or RLIMIT_FSIZE is less than the %u bytes of a first chunk",
             file.path, TACHO_HEADER_SIZE + TACHO_CHUNK_SIZE);
    return EFBIG;
  }
  bool keep;
  int fd = descriptor_open(file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644, &keep);
  const bool is_new = fd >= 0;
  struct stat made;
  if (fd < 0 || fstat(fd, &made) != 0) goto failed;
  file.device = made.st_dev;
  file.inode = made.st_ino;

  file.zeros_are_written = false;
  atomic_store(&refused, false);
  int error_of_header = allocate(fd, 0, TACHO_HEADER_SIZE);
  if (error_of_header != 0 || !map(fd, 0)) {
    errno = error_of_header != 0 ? error_of_header : errno;
    goto failed;
  }
  if (keep) {
    file.fd = fd;
  } else {
    close(fd); /* before the program needs its next descriptor, which may be its last */
    fd = -1;
  }
  struct tacho_file_header *header = (struct tacho_file_header *)atomic_load(segment_slot(0));
  header->header_size = TACHO_HEADER_SIZE;
  header->chunk_size = TACHO_CHUNK_SIZE;
  header->chunks_max = (max_bytes - TACHO_HEADER_SIZE) / TACHO_CHUNK_SIZE;
  if (header->chunks_max > TACHO_CHUNKS_LIMIT) header->chunks_max = TACHO_CHUNKS_LIMIT;
  if (!keep) header->remarks = TACHO_REMARK_FEW_DESCRIPTORS;
  describe_process(header);
  storage_header = header;
  storage_grow(ahead);
  if (header->chunks_allocated > 0) return 0;

  errno = (int)header->storage_error;
  storage_header = NULL;
  munmap(atomic_exchange(segment_slot(0), NULL), MAPPING_SIZE);

failed:;
  int cause = errno;
  if (fd >= 0) close(fd);
  if (is_new) unlink(file.path);
  file.fd = -1;
  snprintf(error, error_size, "%s: %s", file.path, strerror(cause));
  return cause;
}
