// Decides which call fails, by the environment that shim.c describes, and logs the calls and what stays open.
#define _GNU_SOURCE
#include "plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { most_descriptors = 512, most_mappings = 256, log_descriptor = 600, room = 2 * PATH_MAX };

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

enum action meet_file(const char* kind, int descriptor) {
  char path[room];
  if (descriptor == STDERR_FILENO) return no_action;
  if (descriptor == STDIN_FILENO || descriptor == STDOUT_FILENO) {
    return meet(kind, descriptor == STDIN_FILENO ? "stdin" : "stdout");
  }
  path_of(descriptor, path);
  return meet(kind, path);
}

enum action meet_at(const char* kind, int folder, const char* name) {
  char path[room];
  path_at(folder, name, path);
  return meet(kind, path);
}

// --- What is open ----------------------------------------------------------------------------------------------------

int note_opened(int descriptor) {
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

void note_closed(int descriptor) {
  if (descriptor < 0 || descriptor >= most_descriptors) return;
  pthread_mutex_lock(&mutex);
  free(opened[descriptor]);
  opened[descriptor] = NULL;
  pthread_mutex_unlock(&mutex);
}

void note_mapping(void* address, int descriptor) {
  char path[room];
  path_of(descriptor, path);
  if (!is_watched(path)) return;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < most_mappings; ++i) {
    if (mappings[i].path != NULL) continue;
    mappings[i] = (struct mapping){address, strdup(path)};
    break;
  }
  pthread_mutex_unlock(&mutex);
}

void note_unmapped(void* address) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < most_mappings; ++i) {
    if (mappings[i].path == NULL || mappings[i].address != address) continue;
    free(mappings[i].path);
    mappings[i].path = NULL;
    break;
  }
  pthread_mutex_unlock(&mutex);
}
