/* What the C programs of these tests need of the system; posix/system.h has the same. */
#ifndef ONNXAR_TESTS_C_SYSTEM_H_
#define ONNXAR_TESTS_C_SYSTEM_H_

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

/* As the library takes it. */
typedef HANDLE NativeFile;

static inline NativeFile open_native(const char* path) {
  return CreateFileA(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}
static inline int close_native(NativeFile file) { return CloseHandle(file) != 0; }

static inline int enter_folder(const char* path) { return SetCurrentDirectoryA(path) != 0; }
static inline int is_there(const char* path) { return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES; }

typedef struct Thread {
  HANDLE thread;
  void* (*action)(void*);
  void* argument;
} Thread;

static inline DWORD WINAPI run_thread(void* thread) {
  Thread* self = thread;
  self->action(self->argument);
  return 0;
}

static inline int start_thread(Thread* thread, void* (*action)(void*), void* argument) {
  thread->action = action;
  thread->argument = argument;
  thread->thread = CreateThread(NULL, 0, run_thread, thread, 0, NULL);
  return thread->thread != NULL;
}

static inline int join_thread(Thread* thread) {
  const int ended = WaitForSingleObject(thread->thread, INFINITE) == WAIT_OBJECT_0;
  return CloseHandle(thread->thread) != 0 && ended;
}

#endif /* ONNXAR_TESTS_C_SYSTEM_H_ */
