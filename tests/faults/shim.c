// Makes one system call of a program fail, so that a test sees what the program does then.
//
// A shared library for LD_PRELOAD. It stands between the program and the calls of the C library that touch files, and
// gives each a number. Calls that the C library makes by itself (the loader, stdio, malloc) are not seen, nor are calls
// on paths outside of the folder under test. Environment:
//
//   FAULTS_ROOT   the folder under test; links in the path are resolved
//   FAULTS_LOG    a file: one line for each call, "NUMBER KIND PATH", separated by tabs; at the end, one line "left
//   PATH"
//                 for each descriptor that is still open, "mapped PATH" for each mapping, and "end"
//   FAULTS_AT     NUMBER:ERRNO   the call fails and has no effect; a close takes place, as in the kernel
//                 NUMBER:short   it reads or writes only half of the bytes; the status of an open file has the size -1
//                 NUMBER:kill    the process is killed before the call
//                 NUMBER:limit   from this call on the process may open no more files than it has open
//                 NUMBER+:...    so do all calls from this one on, of the kinds in FAULTS_KINDS
//   FAULTS_KINDS  kinds, each followed by a comma
//   FAULTS_LACKS  kinds that the system does not have, each followed by a comma; such calls fail and are not counted
//
// Threads: the numbers are unique, but which call gets which is up to the scheduler.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_descriptors = 512, most_mappings = 256, log_descriptor = 600, room = 2 * PATH_MAX };
enum action { no_action, fail, cut_short, kill_process, limit_files };

struct mapping {
  void* address;
  char* path;
};

static struct {
  const char* root;
  size_t root_length;
  int log;
  long at;
  bool from_there_on;
  enum action action;
  int number;  // of the error
  const char* kinds;
  const char* lacks;
} plan = {.log = -1};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long calls;
static char* opened[most_descriptors];
static struct mapping mappings[most_mappings];

// The next definition of the function, which is the C library's.
#define REAL(name) ((__typeof__(&name))real(#name))

static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

static void write_log(const char* format, ...) {
  if (plan.log < 0) return;
  char line[room + 64];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) REAL(write)(plan.log, line, (size_t)length);
}

__attribute__((constructor)) static void begin(void) {
  plan.root = getenv("FAULTS_ROOT");
  plan.root_length = plan.root ? strlen(plan.root) : 0;
  plan.kinds = getenv("FAULTS_KINDS");
  plan.lacks = getenv("FAULTS_LACKS");
  const char* log = getenv("FAULTS_LOG");
  if (log != NULL) {
    const int file = REAL(open)(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    plan.log = REAL(fcntl)(file, F_DUPFD_CLOEXEC, log_descriptor);
    REAL(close)(file);
  }
  const char* at = getenv("FAULTS_AT");
  if (at == NULL) return;
  char* rest = NULL;
  plan.at = strtol(at, &rest, 10);
  plan.from_there_on = *rest == '+';
  rest += plan.from_there_on ? 2 : 1;
  plan.number = atoi(rest);
  static const struct {
    const char* name;
    enum action action;
  } actions[] = {{"short", cut_short}, {"kill", kill_process}, {"limit", limit_files}};
  plan.action = fail;
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; ++i) {
    if (strcmp(rest, actions[i].name) == 0) plan.action = actions[i].action;
  }
}

__attribute__((destructor)) static void end(void) {
  for (int i = 0; i < most_descriptors; ++i) {
    if (opened[i] != NULL) write_log("left\t%s\n", opened[i]);
  }
  for (int i = 0; i < most_mappings; ++i) {
    if (mappings[i].path != NULL) write_log("mapped\t%s\n", mappings[i].path);
  }
  write_log("end\n");
}

// --- Which call it is ------------------------------------------------------------------------------------------------

static bool is_listed(const char* list, const char* kind) {
  const size_t length = strlen(kind);
  for (const char* at = list; at != NULL && *at != '\0'; at = strchr(at, ',') + 1) {
    if (strncmp(at, kind, length) == 0 && at[length] == ',') return true;
  }
  return false;
}

// Writes the path of an open file. It follows renames; a file without a name is "/folder/#number (deleted)".
static void path_of(int descriptor, char path[room]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = REAL(readlink)(link, path, room - 1);
  path[length < 0 ? 0 : length] = '\0';
}

static void path_at(int folder, const char* name, char path[room]) {
  path[0] = '\0';
  if (name == NULL) return;
  if (name[0] != '/') {
    if (folder == AT_FDCWD) {
      if (getcwd(path, PATH_MAX) == NULL) path[0] = '\0';
    } else {
      path_of(folder, path);
    }
    strncat(path, "/", room - strlen(path) - 1);
  }
  strncat(path, name, room - strlen(path) - 1);
}

static bool is_watched(const char* path) {
  if (strcmp(path, "stdin") == 0 || strcmp(path, "stdout") == 0) return true;
  if (strncmp(path, "/proc/self/fd/", 14) == 0) return true;
  return plan.root != NULL && strncmp(path, plan.root, plan.root_length) == 0 &&
         (path[plan.root_length] == '/' || path[plan.root_length] == '\0');
}

// The limit is one of numbers, not of files: those that are free below the largest number in use are taken first.
static void forbid_files(void) {
  int largest = STDERR_FILENO;
  for (int i = largest; i < most_descriptors; ++i) {
    if (REAL(fcntl)(i, F_GETFD) >= 0) largest = i;
  }
  int next;
  do next = REAL(fcntl)(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  while (next < largest);
  if (next > largest) REAL(close)(next);
  const struct rlimit limit = {(rlim_t)largest + 1, (rlim_t)largest + 1};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) abort();
}

// Counts the call and returns what is to be done with it. `fail` sets errno.
static enum action meet(const char* kind, const char* path) {
  const int before = errno;
  if (!is_watched(path)) return no_action;
  if (is_listed(plan.lacks, kind)) {
    errno = strcmp(kind, "rename_new") == 0 ? EINVAL : strcmp(kind, "openat2") == 0 ? ENOSYS : EOPNOTSUPP;
    return fail;
  }
  pthread_mutex_lock(&mutex);
  const long number = ++calls;
  write_log("%ld\t%s\t%s\n", number, kind, path);
  pthread_mutex_unlock(&mutex);
  const bool meant =
      plan.from_there_on ? number >= plan.at && (number == plan.at || is_listed(plan.kinds, kind)) : number == plan.at;
  if (!meant) {
    errno = before;
    return no_action;
  }
  if (plan.action == kill_process) {
    kill(getpid(), SIGKILL);
    pause();
  }
  if (plan.action == limit_files) forbid_files();
  errno = plan.action == fail ? plan.number : before;
  return plan.action;
}

static enum action meet_file(const char* kind, int descriptor) {
  char path[room];
  if (descriptor == STDERR_FILENO) return no_action;
  if (descriptor == STDIN_FILENO || descriptor == STDOUT_FILENO) {
    return meet(kind, descriptor == STDIN_FILENO ? "stdin" : "stdout");
  }
  path_of(descriptor, path);
  return meet(kind, path);
}

static enum action meet_at(const char* kind, int folder, const char* name) {
  char path[room];
  path_at(folder, name, path);
  return meet(kind, path);
}

// --- What is open ----------------------------------------------------------------------------------------------------

static int note_opened(int descriptor) {
  if (descriptor < 0 || descriptor >= most_descriptors) return descriptor;
  const int before = errno;
  char path[room];
  path_of(descriptor, path);
  pthread_mutex_lock(&mutex);
  free(opened[descriptor]);
  opened[descriptor] = is_watched(path) ? strdup(path) : NULL;
  pthread_mutex_unlock(&mutex);
  errno = before;
  return descriptor;
}

static void note_closed(int descriptor) {
  if (descriptor < 0 || descriptor >= most_descriptors) return;
  pthread_mutex_lock(&mutex);
  free(opened[descriptor]);
  opened[descriptor] = NULL;
  pthread_mutex_unlock(&mutex);
}

static void note_mapping(void* address, const char* path) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < most_mappings; ++i) {
    if (mappings[i].path != NULL) continue;
    mappings[i] = (struct mapping){address, strdup(path)};
    break;
  }
  pthread_mutex_unlock(&mutex);
}

static void note_unmapped(void* address) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < most_mappings; ++i) {
    if (mappings[i].path == NULL || mappings[i].address != address) continue;
    free(mappings[i].path);
    mappings[i].path = NULL;
    break;
  }
  pthread_mutex_unlock(&mutex);
}

// --- Opening and closing ---------------------------------------------------------------------------------------------

static const char* kind_of_opening(int flags) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return "tmpfile";
  return (flags & O_CREAT) != 0 ? "create" : "open";
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (meet_at(kind_of_opening(flags), AT_FDCWD, path) == fail) return -1;
  return note_opened(REAL(open)(path, flags, mode));
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (meet_at(kind_of_opening(flags), folder, path) == fail) return -1;
  return note_opened(REAL(openat)(folder, path, flags, mode));
}

long syscall(long number, ...) {
  long values[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; ++i) values[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_openat2 && meet_at("openat2", (int)values[0], (const char*)values[1]) == fail) return -1;
  if (number == SYS_renameat2 && meet_at("rename_new", (int)values[2], (const char*)values[3]) == fail) return -1;
  const long result = REAL(syscall)(number, values[0], values[1], values[2], values[3], values[4], values[5]);
  return number == SYS_openat2 ? note_opened((int)result) : result;
}

DIR* fdopendir(int descriptor) {
  if (meet_file("opendir", descriptor) == fail) return NULL;
  return REAL(fdopendir)(descriptor);
}

struct dirent* readdir(DIR* folder) {
  if (meet_file("readdir", dirfd(folder)) == fail) return NULL;
  return REAL(readdir)(folder);
}

int closedir(DIR* folder) {
  const int descriptor = dirfd(folder);
  const enum action action = meet_file("close", descriptor);
  const int number = errno;
  note_closed(descriptor);
  const int result = REAL(closedir)(folder);
  errno = action == fail ? number : errno;
  return action == fail ? -1 : result;
}

int close(int descriptor) {
  const enum action action = meet_file("close", descriptor);
  const int number = errno;
  note_closed(descriptor);
  const int result = REAL(close)(descriptor);
  errno = action == fail ? number : errno;
  return action == fail ? -1 : result;
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long value = va_arg(arguments, long);
  va_end(arguments);
  if (command != F_DUPFD_CLOEXEC && command != F_DUPFD) return REAL(fcntl)(descriptor, command, value);
  if (meet_file("dup", descriptor) == fail) return -1;
  return note_opened(REAL(fcntl)(descriptor, command, value));
}

// --- Reading and writing ---------------------------------------------------------------------------------------------

static size_t half(size_t size) { return size < 2 ? size : size / 2; }

ssize_t read(int descriptor, void* target, size_t size) {
  const enum action action = meet_file("read", descriptor);
  if (action == fail) return -1;
  return REAL(read)(descriptor, target, action == cut_short ? half(size) : size);
}

ssize_t pread(int descriptor, void* target, size_t size, off_t offset) {
  const enum action action = meet_file("read", descriptor);
  if (action == fail) return -1;
  return REAL(pread)(descriptor, target, action == cut_short ? half(size) : size, offset);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  const enum action action = meet_file("write", descriptor);
  if (action == fail) return -1;
  return REAL(write)(descriptor, bytes, action == cut_short ? half(size) : size);
}

ssize_t pwritev(int descriptor, const struct iovec* parts, int count, off_t offset) {
  const enum action action = meet_file("write", descriptor);
  if (action == fail) return -1;
  if (action != cut_short) return REAL(pwritev)(descriptor, parts, count, offset);
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  size = half(size);
  struct iovec first[8];
  int used = 0;
  for (; used < count && used < 8 && size > 0; ++used) {
    first[used] = parts[used];
    if (first[used].iov_len > size) first[used].iov_len = size;
    size -= first[used].iov_len;
  }
  return REAL(pwritev)(descriptor, first, used, offset);
}

void* mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  char path[room];
  if (descriptor < 0) return REAL(mmap)(address, length, protection, flags, descriptor, offset);
  if (meet_file("mmap", descriptor) == fail) return MAP_FAILED;
  void* mapped = REAL(mmap)(address, length, protection, flags, descriptor, offset);
  path_of(descriptor, path);
  if (mapped != MAP_FAILED && is_watched(path)) note_mapping(mapped, path);
  return mapped;
}

int munmap(void* address, size_t length) {
  note_unmapped(address);
  return REAL(munmap)(address, length);
}

int ftruncate(int descriptor, off_t size) {
  return meet_file("truncate", descriptor) == fail ? -1 : REAL(ftruncate)(descriptor, size);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return meet_file("allocate", descriptor) == fail ? -1 : REAL(fallocate)(descriptor, mode, offset, length);
}

int fsync(int descriptor) { return meet_file("sync", descriptor) == fail ? -1 : REAL(fsync)(descriptor); }

int sync_file_range(int descriptor, off_t offset, off_t length, unsigned flags) {
  return meet_file("writeback", descriptor) == fail ? -1 : REAL(sync_file_range)(descriptor, offset, length, flags);
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* value = va_arg(arguments, void*);
  va_end(arguments);
  return meet_file("ioctl", descriptor) == fail ? -1 : REAL(ioctl)(descriptor, request, value);
}

int flock(int descriptor, int operation) {
  return meet_file("lock", descriptor) == fail ? -1 : REAL(flock)(descriptor, operation);
}

// --- Names and status ------------------------------------------------------------------------------------------------

int stat(const char* path, struct stat* status) {
  return meet_at("stat", AT_FDCWD, path) == fail ? -1 : REAL(stat)(path, status);
}

int lstat(const char* path, struct stat* status) {
  return meet_at("stat", AT_FDCWD, path) == fail ? -1 : REAL(lstat)(path, status);
}

int fstat(int descriptor, struct stat* status) {
  const enum action action = meet_file("stat", descriptor);
  const int result = action == fail ? -1 : REAL(fstat)(descriptor, status);
  if (action == cut_short) status->st_size = -1;
  return result;
}

int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return meet_at("stat", folder, path) == fail ? -1 : REAL(fstatat)(folder, path, status, flags);
}

int access(const char* path, int mode) {
  return meet_at("access", AT_FDCWD, path) == fail ? -1 : REAL(access)(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
  return meet_file("chmod", descriptor) == fail ? -1 : REAL(fchmod)(descriptor, mode);
}

int fchown(int descriptor, uid_t owner, gid_t group) {
  return meet_file("chown", descriptor) == fail ? -1 : REAL(fchown)(descriptor, owner, group);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  return meet_at("mkdir", folder, path) == fail ? -1 : REAL(mkdirat)(folder, path, mode);
}

int mkdir(const char* path, mode_t mode) {
  return meet_at("mkdir", AT_FDCWD, path) == fail ? -1 : REAL(mkdir)(path, mode);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return meet_at("link", to_folder, to) == fail ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return meet_at("rename", to_folder, to) == fail ? -1 : REAL(renameat)(from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char* path, int flags) {
  return meet_at("unlink", folder, path) == fail ? -1 : REAL(unlinkat)(folder, path, flags);
}

int remove(const char* path) { return meet_at("unlink", AT_FDCWD, path) == fail ? -1 : REAL(remove)(path); }

ssize_t readlinkat(int folder, const char* path, char* target, size_t size) {
  return meet_at("readlink", folder, path) == fail ? -1 : REAL(readlinkat)(folder, path, target, size);
}

char* realpath(const char* path, char* resolved) {
  return meet_at("realpath", AT_FDCWD, path) == fail ? NULL : REAL(realpath)(path, resolved);
}
