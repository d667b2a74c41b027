// libfaultshim.so, preloaded into midwatch: the Nth call that concerns a folder of the test (or the network) fails, once or from
// there on, or the process is killed in front of it. What is between the program and the disk is real: only the answer of
// one call is not. The environment says which:
//   FAULT_ROOTS   folders, colon-separated: calls on paths and open files beneath them are counted
//   FAULT_NET     1: calls on sockets of the network are counted, too
//   FAULT_CALLS   all (default), or change: only those that change something
//   FAULT_AT      the number of the call, from 1; without it nothing fails
//   FAULT_STICKY  1: every counted call after it fails as well
//   FAULT_KIND    a number of errno.h; "kill": SIGKILL in front of the call; "after": SIGKILL behind it; "half": half of a
//                 write is done, then SIGKILL
//   FAULT_LOG     a file: a line for each counted call, "NUMBER NAME PATH"
// Only in a program whose name is midwatch: a trainer that it starts has a disk that works.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { kNone = 0, kKill = -1, kAfter = -2, kHalf = -3 };
enum { kReads = 0, kChanges = 1 };

static atomic_long counted;
static long fail_at;
static int sticky, kind, only_changes, network, log_file = -1;
static char roots[8][PATH_MAX];
static int root_count;

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : strtol(text, NULL, 10);
}

__attribute__((constructor)) static void read_settings(void) {
  if (strcmp(program_invocation_short_name, "midwatch") != 0) return;
  const char* folders = getenv("FAULT_ROOTS");
  while (folders != NULL && *folders != 0 && root_count < 8) {
    const size_t length = strcspn(folders, ":");
    if (length > 0 && length < PATH_MAX) memcpy(roots[root_count++], folders, length);
    folders += length + (folders[length] == ':');
  }
  const char* what = getenv("FAULT_KIND");
  kind = what == NULL ? EIO : strcmp(what, "kill") == 0 ? kKill : strcmp(what, "after") == 0 ? kAfter : strcmp(what, "half") == 0 ? kHalf : atoi(what);
  const char* calls = getenv("FAULT_CALLS");
  only_changes = calls != NULL && strcmp(calls, "change") == 0;
  fail_at = number_of("FAULT_AT");
  sticky = (int)number_of("FAULT_STICKY");
  network = (int)number_of("FAULT_NET");
  const char* log = getenv("FAULT_LOG");
  if (log != NULL) {
    int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
    log_file = real(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }
}

static int beneath(const char* path) {
  for (int i = 0; i < root_count; ++i) {
    const size_t length = strlen(roots[i]);
    if (strncmp(path, roots[i], length) == 0 && (path[length] == 0 || path[length] == '/')) return 1;
  }
  return 0;
}

/// What to do with this call: kNone, an errno, or one of the kills. `path` NULL: of the network.
static int judge(const char* name, const char* path, int changes) {
  if (path == NULL ? !network : !beneath(path)) return kNone;
  if (only_changes && !changes) return kNone;
  const long number = atomic_fetch_add(&counted, 1) + 1;
  if (log_file >= 0) {
    char line[PATH_MAX + 64];
    const int size = snprintf(line, sizeof line, "%ld %s %s\n", number, name, path == NULL ? "-" : path);
    ssize_t (*real)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
    if (size > 0) (void)!real(log_file, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
  }
  if (fail_at == 0 || (sticky ? number < fail_at : number != fail_at)) return kNone;
  if (kind == kKill) kill(getpid(), SIGKILL);
  return kind;
}

static int judge_file(const char* name, int file, int changes) {
  const int before = errno;
  char place[64], path[PATH_MAX];
  (void)snprintf(place, sizeof place, "/proc/self/fd/%d", file);
  ssize_t (*real)(const char*, char*, size_t) = dlsym(RTLD_NEXT, "readlink");
  const ssize_t size = real(place, path, sizeof path - 1);
  errno = before;
  if (size <= 0) return kNone;
  path[size] = 0;
  if (path[0] == '/') return judge(name, path, changes);
  if (strncmp(path, "socket:", 7) != 0 || !network) return kNone;
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  const int inet = getsockname(file, (struct sockaddr*)&peer, &length) == 0 && (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
  errno = before;
  return inet ? judge(name, NULL, changes) : kNone;
}

/// A relative path is one of an open folder: it is what /proc says of that, and the name.
static int judge_at(const char* name, int folder, const char* path, int changes) {
  if (path[0] == '/' || folder == AT_FDCWD) return judge(name, path, changes);
  return judge_file(name, folder, changes);
}

#define REAL(NAME) __typeof__(&NAME) real = (__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME)
/// Fails with `bad`, or goes on to the call, behind which the process may be killed.
#define ANSWER(TYPE, VERDICT, BAD, CALL) \
  do {                                   \
    const int verdict_ = (VERDICT);      \
    if (verdict_ > 0) {                  \
      errno = verdict_;                  \
      return BAD;                        \
    }                                    \
    TYPE result_ = CALL;                 \
    if (verdict_ < 0) kill(getpid(), SIGKILL); \
    return result_;                      \
  } while (0)

#define OPEN(NAME)                                                                                        \
  int NAME(const char* path, int flags, ...) {                                                            \
    REAL(NAME);                                                                                           \
    va_list more;                                                                                         \
    va_start(more, flags);                                                                                \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;                  \
    va_end(more);                                                                                         \
    ANSWER(int, judge("open", path, (flags & (O_CREAT | O_TRUNC)) != 0), -1, real(path, flags, mode));    \
  }
OPEN(open)
OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  REAL(openat);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  ANSWER(int, judge_at("openat", folder, path, (flags & (O_CREAT | O_TRUNC)) != 0), -1, real(folder, path, flags, mode));
}

FILE* fopen(const char* path, const char* how) {
  REAL(fopen);
  ANSWER(FILE*, judge("fopen", path, how[0] != 'r'), NULL, real(path, how));
}
FILE* fopen64(const char* path, const char* how) {
  REAL(fopen64);
  ANSWER(FILE*, judge("fopen", path, how[0] != 'r'), NULL, real(path, how));
}
DIR* opendir(const char* path) {
  REAL(opendir);
  ANSWER(DIR*, judge("opendir", path, kReads), NULL, real(path));
}
struct dirent* readdir(DIR* folder) {
  REAL(readdir);
  ANSWER(struct dirent*, judge_file("readdir", dirfd(folder), kReads), NULL, real(folder));
}

ssize_t read(int file, void* to, size_t size) {
  REAL(read);
  ANSWER(ssize_t, judge_file("read", file, kReads), -1, real(file, to, size));
}
ssize_t pread(int file, void* to, size_t size, off_t at) {
  REAL(pread);
  ANSWER(ssize_t, judge_file("pread", file, kReads), -1, real(file, to, size, at));
}
ssize_t pread64(int file, void* to, size_t size, off64_t at) {
  REAL(pread64);
  ANSWER(ssize_t, judge_file("pread", file, kReads), -1, real(file, to, size, at));
}
void* mmap64(void* at, size_t size, int rights, int flags, int file, off64_t from) {
  REAL(mmap64);
  ANSWER(void*, file < 0 ? kNone : judge_file("mmap", file, kReads), (void*)-1, real(at, size, rights, flags, file, from));
}

/// Half of it is written before a kill of that kind.
static size_t written(int verdict, size_t size) { return verdict == kHalf ? size / 2 : size; }

#define WRITE(NAME, PARAMETERS, ...)                                      \
  ssize_t NAME PARAMETERS {                                               \
    REAL(NAME);                                                           \
    const int verdict = judge_file(#NAME, file, kChanges);                \
    ANSWER(ssize_t, verdict, -1, real(file, from, written(verdict, size) __VA_ARGS__)); \
  }
WRITE(write, (int file, const void* from, size_t size))
WRITE(pwrite, (int file, const void* from, size_t size, off_t at), , at)
WRITE(pwrite64, (int file, const void* from, size_t size, off64_t at), , at)

int close(int file) {
  REAL(close);
  const int verdict = judge_file("close", file, kReads);
  if (verdict > 0) (void)real(file);  // it is closed, whatever the answer
  ANSWER(int, verdict, -1, real(file));
}

#define OF_FILE(NAME, CHANGES, PARAMETERS, ...)                                    \
  int NAME PARAMETERS {                                                            \
    REAL(NAME);                                                                    \
    ANSWER(int, judge_file(#NAME, file, CHANGES), -1, real(file __VA_ARGS__));     \
  }
OF_FILE(fsync, kChanges, (int file))
OF_FILE(fdatasync, kChanges, (int file))
OF_FILE(ftruncate, kChanges, (int file, off_t size), , size)
OF_FILE(ftruncate64, kChanges, (int file, off64_t size), , size)
OF_FILE(fchmod, kChanges, (int file, mode_t mode), , mode)

#define OF_PATH(NAME, CHANGES, PARAMETERS, ...)                                \
  int NAME PARAMETERS {                                                        \
    REAL(NAME);                                                                \
    ANSWER(int, judge(#NAME, path, CHANGES), -1, real(path __VA_ARGS__));      \
  }
OF_PATH(unlink, kChanges, (const char* path))
OF_PATH(rmdir, kChanges, (const char* path))
OF_PATH(mkdir, kChanges, (const char* path, mode_t mode), , mode)
OF_PATH(chmod, kChanges, (const char* path, mode_t mode), , mode)
OF_PATH(access, kReads, (const char* path, int how), , how)
OF_PATH(statvfs, kReads, (const char* path, struct statvfs* to), , to)

int unlinkat(int folder, const char* path, int flags) {
  REAL(unlinkat);
  ANSWER(int, judge_at("unlinkat", folder, path, kChanges), -1, real(folder, path, flags));
}
int rename(const char* from, const char* to) {
  REAL(rename);
  ANSWER(int, judge("rename", beneath(to) ? to : from, kChanges), -1, real(from, to));
}
int renameat(int one, const char* from, int other, const char* to) {
  REAL(renameat);
  ANSWER(int, judge_at("renameat", other, to, kChanges), -1, real(one, from, other, to));
}
int link(const char* from, const char* to) {
  REAL(link);
  ANSWER(int, judge("link", to, kChanges), -1, real(from, to));
}
int linkat(int one, const char* from, int other, const char* to, int flags) {
  REAL(linkat);
  ANSWER(int, judge_at("linkat", other, to, kChanges), -1, real(one, from, other, to, flags));
}
int symlink(const char* text, const char* path) {
  REAL(symlink);
  ANSWER(int, judge("symlink", path, kChanges), -1, real(text, path));
}
ssize_t readlink(const char* path, char* to, size_t size) {
  REAL(readlink);
  ANSWER(ssize_t, judge("readlink", path, kReads), -1, real(path, to, size));
}
char* realpath(const char* path, char* to) {
  REAL(realpath);
  ANSWER(char*, judge("realpath", path, kReads), NULL, real(path, to));
}
int statx(int folder, const char* restrict path, int flags, unsigned mask, struct statx* restrict to) {
  REAL(statx);
  ANSWER(int, path[0] == 0 ? judge_file("statx", folder, kReads) : judge_at("statx", folder, path, kReads), -1, real(folder, path, flags, mask, to));
}

// stat of glibc before 2.33, which a program for old systems calls, and of later ones.
extern int __xstat(int version, const char* path, struct stat* to);
extern int __lxstat(int version, const char* path, struct stat* to);
extern int __fxstat(int version, int file, struct stat* to);
extern int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags);
int __xstat(int version, const char* path, struct stat* to) {
  REAL(__xstat);
  ANSWER(int, judge("stat", path, kReads), -1, real(version, path, to));
}
int __lxstat(int version, const char* path, struct stat* to) {
  REAL(__lxstat);
  ANSWER(int, judge("lstat", path, kReads), -1, real(version, path, to));
}
int __fxstat(int version, int file, struct stat* to) {
  REAL(__fxstat);
  ANSWER(int, judge_file("fstat", file, kReads), -1, real(version, file, to));
}
int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags) {
  REAL(__fxstatat);
  ANSWER(int, judge_at("fstatat", folder, path, kReads), -1, real(version, folder, path, to, flags));
}
#define STAT(NAME)                                                            \
  int NAME(const char* restrict path, struct stat* restrict to) {             \
    REAL(NAME);                                                               \
    ANSWER(int, judge(#NAME, path, kReads), -1, real(path, to));              \
  }
STAT(stat)
STAT(lstat)
int fstat(int file, struct stat* to) {
  REAL(fstat);
  ANSWER(int, judge_file("fstat", file, kReads), -1, real(file, to));
}
int fstatat(int folder, const char* restrict path, struct stat* restrict to, int flags) {
  REAL(fstatat);
  ANSWER(int, judge_at("fstatat", folder, path, kReads), -1, real(folder, path, to, flags));
}

int connect(int file, const struct sockaddr* to, socklen_t size) {
  REAL(connect);
  ANSWER(int, judge_file("connect", file, kChanges), -1, real(file, to, size));
}
ssize_t send(int file, const void* from, size_t size, int flags) {
  REAL(send);
  const int verdict = judge_file("send", file, kChanges);
  ANSWER(ssize_t, verdict, -1, real(file, from, written(verdict, size), flags));
}
ssize_t recv(int file, void* to, size_t size, int flags) {
  REAL(recv);
  ANSWER(ssize_t, judge_file("recv", file, kReads), -1, real(file, to, size, flags));
}
