// Which calls of a program fail, and what the program has open: shared by the two sources of the library of shim.c.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

// The names below stay in the library: those that it replaces are the only ones that a program sees.
#pragma GCC visibility push(hidden)

enum action { no_action, fail, cut_short, kill_process, limit_files };

// The next definition of the function, which is the C library's.
#define REAL(name) ((__typeof__(&name))real(#name))

static inline void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

// Counts a call on a file, or on a name in a folder, and returns what is to be done with it. `fail` sets errno.
enum action meet_file(const char* kind, int descriptor);
enum action meet_at(const char* kind, int folder, const char* name);

// Notes what the program opens, and forgets what it closes. Returns the descriptor.
int note_opened(int descriptor);
void note_closed(int descriptor);
void note_mapping(void* address, int descriptor);
void note_unmapped(void* address);

#pragma GCC visibility pop
