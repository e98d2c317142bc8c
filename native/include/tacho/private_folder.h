/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of this user alone, in which plugins keep files that several processes must find by name.
 *
 * In a folder that others may write to, such as /tmp, anybody may make a link with a known name, and a program that
 * opens it writes to the target of the link. So no file with a fixed name is there: all such files are in one folder
 * that nobody else can enter. crates/private implements the same rule in Rust; both must name the same folder. For C11
 * with _GNU_SOURCE, and C++17.
 */
#ifndef TACHO_PRIVATE_FOLDER_H_
#define TACHO_PRIVATE_FOLDER_H_

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacho/middleware.h>

static inline bool tacho_is_private(const struct stat *found) {
  return S_ISDIR(found->st_mode) && found->st_uid == geteuid() && !(found->st_mode & 077);
}

/* Makes a folder for this user alone, or checks that it is one. Returns false with the cause in `error`
   (TACHO_ERROR_SIZE). */
static inline bool tacho_private_made(const char *path, char *error) {
  struct stat found;
  if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &found) != 0) {
    snprintf(error, TACHO_ERROR_SIZE, "%.500s: %s", path, strerror(errno));
    return false;
  }
  if (tacho_is_private(&found)) return true;
  snprintf(error, TACHO_ERROR_SIZE,
           "%.500s: found %s of user %u with mode %o, expected a folder of user %u with mode 700, which nobody else "
           "can enter; remove "
           "it, or set XDG_RUNTIME_DIR to such a folder",
           path,
           S_ISLNK(found.st_mode)   ? "a symbolic link"
           : S_ISDIR(found.st_mode) ? "a folder"
                                    : "a file",
           found.st_uid, found.st_mode & 07777u, geteuid());
  return false;
}

/* Returns `tacho` in XDG_RUNTIME_DIR if that belongs only to this user, else `tacho-<uid>` in TMPDIR or /tmp, and
 * creates it if necessary. Returns false with the cause in `error` (TACHO_ERROR_SIZE) if another user was first, or if
 * others may enter it. */
static inline bool tacho_private_folder(char *path, size_t size, char *error) {
  const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
  struct stat found;
  int length;
  if (runtime && *runtime == '/' && lstat(runtime, &found) == 0 && tacho_is_private(&found))
    length = snprintf(path, size, "%s/tacho", runtime);
  else
    length = snprintf(path, size, "%s/tacho-%u", temporary && *temporary ? temporary : "/tmp", geteuid());
  if (length > 0 && (size_t)length < size) return tacho_private_made(path, error);
  snprintf(error, TACHO_ERROR_SIZE, "%.500s...: longer than %zu bytes; set XDG_RUNTIME_DIR or TMPDIR to a shorter one",
           path, size - 1);
  return false;
}

/* Returns the path of a file or folder of that name in tacho_private_folder(). */
static inline bool tacho_private_path(const char *name, char *path, size_t size, char *error) {
  if (!tacho_private_folder(path, size, error)) return false;
  const size_t length = strlen(path);
  if (length + strlen(name) + 2 <= size) {
    snprintf(path + length, size - length, "/%s", name);
    return true;
  }
  snprintf(error, TACHO_ERROR_SIZE,
           "%.500s/%.100s: longer than %zu bytes; set XDG_RUNTIME_DIR or TMPDIR to a shorter one", path, name,
           size - 1);
  return false;
}

/* Opens a file there, and creates it if necessary (add O_EXCL if it must be new). It follows no link and opens no
 * file of another user. Returns -1 with the cause in `error` (TACHO_ERROR_SIZE). */
static inline int tacho_private_open(const char *path, int flags, char *error) {
  struct stat found;
  const int file = open(path, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid()) return file;
  if (file >= 0)
    snprintf(error, TACHO_ERROR_SIZE, "%.500s: expected a file of user %u; remove it", path, geteuid());
  else
    snprintf(error, TACHO_ERROR_SIZE, "%.500s: %s", path, strerror(errno));
  if (file >= 0) close(file);
  return -1;
}

#endif
