/* What this machine's static archives ask of a C library newer than the floor, made from what the floor has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

struct stat;
struct stat64;

/* 2.32: "this process has one thread": never claimed, which is always safe. */
char __libc_single_threaded = 0;

/* 2.33: the stat family became functions; before, they were macros over these. 1 is x86-64's structure version. */
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int stat(const char* path, struct stat* out) { return __xstat(1, path, out); }
int lstat(const char* path, struct stat* out) { return __lxstat(1, path, out); }
int fstat(int file, struct stat* out) { return __fxstat(1, file, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return __fxstatat(1, folder, path, out, flags);
}
int stat64(const char* path, struct stat64* out) { return __xstat(1, path, (struct stat*)out); }
int lstat64(const char* path, struct stat64* out) { return __lxstat(1, path, (struct stat*)out); }
int fstat64(int file, struct stat64* out) { return __fxstat(1, file, (struct stat*)out); }
int fstatat64(int folder, const char* path, struct stat64* out, int flags) {
  return __fxstatat(1, folder, path, (struct stat*)out, flags);
}

/* 2.36 */
uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
    if (errno != EINTR) abort();
  }
  return value;
}

/* 2.35: the unwinder's way to the object that holds an address, by the older walk over all objects. */
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int is_it(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  uintptr_t least = UINTPTR_MAX, most = 0, frames = 0;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = begin;
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t end = begin + part->p_memsz;
    least = begin < least ? begin : least;
    most = end > most ? end : most;
    inside |= search->address >= begin && search->address < end;
  }
  if (!inside) return 0;
  if (frames == 0) return -1;
  search->found->dlfo_flags = 0;
  search->found->dlfo_map_start = (void*)least;
  search->found->dlfo_map_end = (void*)most;
  search->found->dlfo_link_map = NULL;
  search->found->dlfo_eh_frame = (void*)frames;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(is_it, &search) == 1 ? 0 : -1;
}
