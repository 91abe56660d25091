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
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plan.h"

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
  if (descriptor < 0) return REAL(mmap)(address, length, protection, flags, descriptor, offset);
  if (meet_file("mmap", descriptor) == fail) return MAP_FAILED;
  void* mapped = REAL(mmap)(address, length, protection, flags, descriptor, offset);
  if (mapped != MAP_FAILED) note_mapping(mapped, descriptor);
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
