/* What the C programs of these tests need of the system; windows/system.h has the same. */
#ifndef ONNXAR_TESTS_C_SYSTEM_H_
#define ONNXAR_TESTS_C_SYSTEM_H_

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* As the library takes it. */
typedef int NativeFile;

static inline NativeFile open_native(const char* path) { return open(path, O_RDONLY); }
static inline int close_native(NativeFile file) { return close(file) == 0; }

static inline int enter_folder(const char* path) { return chdir(path) == 0; }
static inline int is_there(const char* path) { return access(path, F_OK) == 0; }

typedef struct Thread {
  pthread_t thread;
} Thread;

static inline int start_thread(Thread* thread, void* (*action)(void*), void* argument) {
  return pthread_create(&thread->thread, NULL, action, argument) == 0;
}

static inline int join_thread(Thread* thread) { return pthread_join(thread->thread, NULL) == 0; }

#endif /* ONNXAR_TESTS_C_SYSTEM_H_ */
