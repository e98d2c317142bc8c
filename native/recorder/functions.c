/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define LONGEST 4096 /* of a mangled name */

EXPORT bool tacho_function_name(const void *code, char *name, size_t size);

/* The program or library with an address in its code. */
struct module {
  uintptr_t code, base;
  const char *path; /* null: none has it */
};

static int holds(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct module *module = data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    if (module->code < from || module->code - from >= part->p_memsz) continue;
    module->path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    module->base = info->dlpi_addr;
    return 1;
  }
  return 0;
}

/* Whether `count` things of `size` bytes lie within a file from an offset. */
static bool within(uint64_t file_size, uint64_t offset, uint64_t count, uint64_t size) {
  return offset <= file_size && count <= (file_size - offset) / size;
}

/* Copies the only name that a file's table of symbols has for a function: a program keeps its functions from the
 * dynamic linker, and has them in this table until it is stripped. */
static bool name_in_table(const char *file, uint64_t file_size, uintptr_t value, char *name) {
  const ElfW(Ehdr) *head = (const void *)file;
  if (file_size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head->e_shentsize != sizeof(ElfW(Shdr))) return false;
  if (!within(file_size, head->e_shoff, head->e_shnum, sizeof(ElfW(Shdr)))) return false;
  const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
  bool found = false;
  for (unsigned i = 0; i < head->e_shnum; i++) {
    const ElfW(Shdr) *table = &sections[i];
    if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum) continue;
    const ElfW(Shdr) *texts = &sections[table->sh_link];
    const uint64_t count = table->sh_size / sizeof(ElfW(Sym));
    if (!within(file_size, table->sh_offset, count, sizeof(ElfW(Sym)))) continue;
    if (!within(file_size, texts->sh_offset, texts->sh_size, 1)) continue;
    const ElfW(Sym) *symbols = (const void *)(file + table->sh_offset);
    for (uint64_t k = 0; k < count; k++) {
      const ElfW(Sym) *symbol = &symbols[k];
      if (symbol->st_value != value || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
      if (symbol->st_name >= texts->sh_size) continue;
      const char *text = file + texts->sh_offset + symbol->st_name;
      const size_t length = strnlen(text, texts->sh_size - symbol->st_name);
      if (length == 0 || length >= LONGEST) continue;
      /* Linkers may fold functions of the same code into one: its name is not known. */
      if (found && (strncmp(name, text, length) != 0 || name[length] != 0)) return false;
      memcpy(name, text, length);
      name[length] = 0;
      found = true;
    }
  }
  return found;
}

static bool name_in_file(const struct module *module, char *name) {
  bool found = false;
  const int file = open(module->path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0) return false;
  if (fstat(file, &about) == 0 && about.st_size > 0) {
    const uint64_t size = (uint64_t)about.st_size;
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      found = name_in_table(bytes, size, module->code - module->base, name);
      munmap((void *)bytes, size);
    }
  }
  close(file);
  return found;
}

bool tacho_function_name(const void *code, char *name, size_t size) {
  struct module module = {.code = (uintptr_t)code};
  char mangled[LONGEST];
  dl_iterate_phdr(holds, &module);
  if (!module.path || size == 0) return false;
  Dl_info known;
  const bool is_known = dladdr(code, &known) != 0 && known.dli_sname && known.dli_saddr == code;
  if (is_known && strlen(known.dli_sname) < sizeof mangled)
    strcpy(mangled, known.dli_sname);
  else if (!name_in_file(&module, mangled))
    return false;
  char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
  *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
  int status = -1;
  char *readable = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
  const char *said = status == 0 && readable ? readable : mangled;
  const bool fits = strlen(said) < size;
  if (fits) strcpy(name, said);
  free(readable);
  return fits;
}

/* Reads words that may not be there; how many were. */
static size_t read_words(uintptr_t from, uintptr_t *words, size_t count) {
  const struct iovec to = {words, count * sizeof *words}, of = {(void *)from, count * sizeof *words};
  const ssize_t bytes = process_vm_readv(getpid(), &to, 1, &of, 1, 0);
  return bytes < 0 ? 0 : (size_t)bytes / sizeof *words;
}

static bool is_code(uintptr_t address) {
  struct module module = {.code = address};
  dl_iterate_phdr(holds, &module);
  return module.path != NULL;
}

/* Whether two words may be a pointer to a method: its address, or its place among the virtual ones, and what to add to
 * the object's address. The lowest bit of the first marks a virtual one; on AArch64, that of the second. */
static bool is_method(const uintptr_t *words) {
  enum { MOST_VIRTUAL = 1 << 16, LARGEST_OBJECT = 1 << 20 };
#ifdef __aarch64__
  const bool is_marked = words[1] & 1;
#else
  const bool is_marked = words[0] & 1;
#endif
  const bool is_virtual = is_marked && words[0] < MOST_VIRTUAL;
  return words[1] < LARGEST_OBJECT && (is_virtual || is_code(words[0]));
}

/* Finds a bound method in the function object of a callback: the object itself, or one that a std::function points to,
 * since it is too large for the std::function. The first one decides: what lies behind a callback is not its own. */
static bool find_method(uintptr_t callback, uintptr_t *method) {
  enum { WORDS = 16, OF_FUNCTION = 4, MANAGER = 2, INVOKER = 3, OF_METHOD = 2 };
  uintptr_t object[WORDS];
  const size_t count = read_words(callback, object, WORDS);
  if (count >= OF_METHOD && is_method(object)) {
    memcpy(method, object, OF_METHOD * sizeof *method);
    return true;
  }
  for (size_t i = 0; i + OF_FUNCTION <= count; i++) {
    const uintptr_t *function = &object[i];
    if (function[0] == 0 || !is_code(function[MANAGER]) || !is_code(function[INVOKER])) continue;
    if (read_words(function[0], method, OF_METHOD) == OF_METHOD && is_method(method)) return true;
  }
  return false;
}

/* Whether a name is that of a method of the class and with the arguments that a type says:
 * `std::_Bind<void (nav::Planner::*(nav::Planner*, std::_Placeholder<1>))(int)>`. */
static bool is_of_type(const char *name, const char *type) {
  const char *end = strstr(type, "::*(");
  const char *from = end;
  for (int closed = 0; from > type && (closed > 0 || from[-1] != '('); from--) {
    if (from[-1] == ')') closed++;
    if (from[-1] == '(') closed--;
  }
  const size_t length = (size_t)(end - from), whole = strlen(name);
  if (strncmp(name, from, length) != 0 || strncmp(name + length, "::", 2) != 0) return false;
  const char *arguments = strstr(end, "))(");
  const size_t rest = arguments ? strlen(arguments + 2) : 0;
  return rest > 1 && rest - 1 <= whole && strncmp(name + whole - (rest - 1), arguments + 2, rest - 1) == 0;
}

const char *function_of_callback(const void *callback, const char *symbol, char *name, size_t size) {
  uintptr_t method[2];
  if (!symbol || strncmp(symbol, "std::_Bind", strlen("std::_Bind")) != 0 || !strstr(symbol, "::*(")) return symbol;
  const bool is_found = find_method((uintptr_t)callback, method) &&
                        tacho_function_name((const void *)method[0], name, size) && is_of_type(name, symbol);
  return is_found ? name : symbol;
}
