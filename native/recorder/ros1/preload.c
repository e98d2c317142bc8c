/* SPDX-License-Identifier: Apache-2.0
 *
 * This library is preloaded beside the recorder. It is small and needs nothing of C++ because it comes into every
 * program, shells and Python too: a program that never calls roscpp pays only for loading it. The first call of an
 * interposed function decides: a recorded program gets the hooks, in a library that is loaded then; any other program
 * gets its originals back.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"

int tacho_recording(void);

/* The library of hooks lies beside this library. */
#define LIBRARY_OF_HOOKS "libtacho_recorder_ros1_hooks.so"

/* The target of the calls of one function. The assembly below relies on the target being first. */
struct slot {
  _Atomic(void *) target;
  const char *symbol;
  enum ros1_hook hook;
};
_Static_assert(offsetof(struct slot, target) == 0, "the trampolines jump through the first word");

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void *ros1_resolve(struct slot *slot);

/* symbol: jumps to slot.target.
 *
 * undecided_NAME: the first target. It calls ros1_resolve with the address of the slot, then jumps to the address that
 * ros1_resolve returns. It keeps all registers that carry integer arguments, and on AArch64 the register with the
 * address of the result. */
#define TEXT(...) #__VA_ARGS__
#define EXPAND(macro) TEXT(macro)
#if defined(__x86_64__)
#define TRAMPOLINE(name, symbol)                                                                     \
  __asm__(".text\n.globl " symbol "\n.type " symbol ", @function\n.p2align 4\n" symbol               \
          ":\n"                                                                                      \
          "  jmp *ros1_slot_" #name "(%rip)\n.size " symbol ", . - " symbol                          \
          "\n"                                                                                       \
          ".hidden ros1_undecided_" #name "\n.globl ros1_undecided_" #name "\nros1_undecided_" #name \
          ":\n"                                                                                      \
          "  lea ros1_slot_" #name "(%rip), %r11\n  jmp ros1_decide\n");
__asm__(
    ".text\nros1_decide:\n"
    "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  push %rax\n"
    "  mov %r11, %rdi\n  call ros1_resolve\n  mov %rax, %r11\n"
    "  pop %rax\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  jmp *%r11\n");
#elif defined(__aarch64__)
#define TRAMPOLINE(name, symbol)                                                                     \
  __asm__(".text\n.globl " symbol "\n.type " symbol ", %function\n.p2align 4\n" symbol               \
          ":\n"                                                                                      \
          "  adrp x16, ros1_slot_" #name "\n  ldr x16, [x16, #:lo12:ros1_slot_" #name                \
          "]\n  br x16\n"                                                                            \
          ".size " symbol ", . - " symbol                                                            \
          "\n"                                                                                       \
          ".hidden ros1_undecided_" #name "\n.globl ros1_undecided_" #name "\nros1_undecided_" #name \
          ":\n"                                                                                      \
          "  adrp x17, ros1_slot_" #name "\n  add x17, x17, #:lo12:ros1_slot_" #name "\n  b ros1_decide\n");
__asm__(
    ".text\nros1_decide:\n"
    "  stp x29, x30, [sp, #-96]!\n  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n"
    "  stp x6, x7, [sp, #64]\n  str x8, [sp, #80]\n"
    "  mov x0, x17\n  bl ros1_resolve\n  mov x16, x0\n"
    "  ldr x8, [sp, #80]\n  ldp x6, x7, [sp, #64]\n  ldp x4, x5, [sp, #48]\n  ldp x2, x3, [sp, #32]\n"
    "  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #96\n  br x16\n");
#else
#error "no trampolines for this processor: x86-64 and AArch64 are there"
#endif

#define DEFINE(name, symbol)                                                   \
  HIDDEN extern char ros1_undecided_##name[];                                  \
  HIDDEN extern struct slot ros1_slot_##name;                                  \
  struct slot ros1_slot_##name = {ros1_undecided_##name, symbol, ROS1_##name}; \
  TRAMPOLINE(name, symbol)
ROS1_HOOKS(DEFINE)

#define ADDRESS(name, symbol) &ros1_slot_##name,
static struct slot *const slots[] = {ROS1_HOOKS(ADDRESS)};

static pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER;
static void *originals[ROS1_HOOK_COUNT];
static void *const *hooks; /* NULL: not loaded */
static bool decided;

struct wanted {
  const char *symbol;
  void *found;
};

/* RTLD_NEXT does not search libraries that a program loaded for itself alone (dlopen). */
static int look_into(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct wanted *wanted = data;
  const char *name = strrchr(object->dlpi_name, '/');
  name = name != NULL ? name + 1 : object->dlpi_name;
  if (strncmp(name, "libroscpp.so", 12) != 0 && strncmp(name, "libnodeletlib.so", 16) != 0) return 0;
  void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return 0;
  wanted->found = dlsym(library, wanted->symbol);
  dlclose(library);
  return wanted->found != NULL;
}

static void *original(struct slot *slot) {
  void **known = &originals[slot->hook];
  if (*known == NULL) *known = dlsym(RTLD_NEXT, slot->symbol);
  if (*known == NULL) {
    struct wanted wanted = {slot->symbol, NULL};
    dl_iterate_phdr(look_into, &wanted);
    *known = wanted.found;
  }
  return *known;
}

/* Returns the hooks, or NULL after printing the reason on stderr. */
static void *const *load_hooks(void) {
  for (int hook = 0; hook < ROS1_HOOKS_OF_ROSCPP; hook++) {
    if (original(slots[hook]) != NULL) continue;
    fprintf(stderr, "tacho: ROS 1 is not recorded: this roscpp has no %s; roscpp of ROS 1 Noetic was expected\n",
            slots[hook]->symbol);
    return NULL;
  }
  original(slots[ROS1_nodelet_init]); /* nodelet may be loaded later, or never */
  Dl_info self;
  char path[4096];
  const char *end;
  if (dladdr((void *)slots, &self) == 0 || (end = strrchr(self.dli_fname, '/')) == NULL ||
      snprintf(path, sizeof path, "%.*s/" LIBRARY_OF_HOOKS, (int)(end - self.dli_fname), self.dli_fname) >=
          (int)sizeof path) {
    fprintf(stderr, "tacho: ROS 1 is not recorded: the folder of " LIBRARY_OF_HOOKS
                    " is not known; expected in LD_PRELOAD: an absolute path\n");
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *entry = library != NULL ? dlsym(library, ROS1_HOOKS_ENTRY) : NULL;
  if (entry == NULL) {
    fprintf(stderr, "tacho: ROS 1 is not recorded: %s\n", dlerror());
    return NULL;
  }
  return ((ros1_hooks_entry)entry)(originals);
}

void *ros1_resolve(struct slot *slot) {
  int saved = errno;
  pthread_mutex_lock(&deciding);
  if (!decided) {
    decided = true;
    if (tacho_recording()) hooks = load_hooks();
  }
  void *target = original(slot);
  if (target == NULL) {
    fprintf(stderr, "tacho: %s was called and no loaded library defines it\n", slot->symbol);
    abort();
  }
  if (hooks != NULL) target = hooks[slot->hook];
  atomic_store_explicit(&slot->target, target, memory_order_release);
  pthread_mutex_unlock(&deciding);
  errno = saved;
  return target;
}
