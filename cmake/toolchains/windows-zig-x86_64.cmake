# Windows on x86-64 by zig: clang and libc++ over the headers of mingw-w64.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig_target x86_64-windows-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
# zig passes clang an option that this system does not use. The C header declares functions without dllexport, which their
# definitions have: callers need no dllimport.
foreach(language C CXX)
  string(APPEND CMAKE_${language}_FLAGS_INIT " -Wno-unused-command-line-argument -Wno-dll-attribute-on-redeclaration")
endforeach()
