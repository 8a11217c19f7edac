/* Preloaded: steps that change the folder FAULT_FOLDER fail with errno FAULT_ERROR from the FAULT_FROM-th on.
   FAULT_KINDS says which: 1 writes, 2 new names, 4 removals. How many there were is written to FAULT_COUNT at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITES = 1, NAMES = 2, REMOVALS = 4 };
static long steps;

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

/* True if this step fails; it is counted if it is of a kind that can fail, in that folder. */
static int fails(int kind, const char *path) {
  const char *folder = getenv("FAULT_FOLDER");
  char whole[2 * PATH_MAX + 2];
  if (!folder || !path || !(number("FAULT_KINDS") & kind)) return 0;
  if (path[0] == '/') {
    snprintf(whole, sizeof whole, "%s", path);
  } else {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
  }
  if (strncmp(whole, folder, strlen(folder))) return 0;
  if (++steps < number("FAULT_FROM")) return 0;
  errno = (int)number("FAULT_ERROR");
  return 1;
}

static int fails_at(int kind, int file) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(kind, path);
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = steps && path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld", steps);
    fclose(file);
  }
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AT(kind, name, declared, file, ...) \
  int name declared { return fails_at(kind, file) ? -1 : NEXT(name)(__VA_ARGS__); }
#define ON(kind, name, declared, path, ...) \
  int name declared { return fails(kind, path) ? -1 : NEXT(name)(__VA_ARGS__); }
#define WRITING(name, declared, file, ...) \
  ssize_t name declared { return fails_at(WRITES, file) ? -1 : NEXT(name)(__VA_ARGS__); }
#define OPENING(name)                                                  \
  int name(const char *path, int flags, ...) {                         \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;                \
    va_end(rest);                                                      \
    if (flags & O_CREAT && access(path, F_OK) && fails(NAMES, path)) return -1; \
    return NEXT(name)(path, flags, mode);                              \
  }

OPENING(open)
OPENING(open64)
WRITING(write, (int file, const void *from, size_t size), file, file, from, size)
WRITING(pwrite, (int file, const void *from, size_t size, off_t at), file, file, from, size, at)
WRITING(pwrite64, (int file, const void *from, size_t size, off64_t at), file, file, from, size, at)
AT(WRITES, ftruncate, (int file, off_t size), file, file, size)
AT(WRITES, ftruncate64, (int file, off64_t size), file, file, size)
AT(WRITES, fsync, (int file), file, file)
AT(WRITES, fdatasync, (int file), file, file)
ON(NAMES, rename, (const char *from, const char *to), to, from, to)
ON(REMOVALS, unlink, (const char *path), path, path)
