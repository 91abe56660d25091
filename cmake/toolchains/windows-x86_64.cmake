# Windows on x86-64, by Debian's mingw-w64 (g++-mingw-w64-x86-64-posix, libz-mingw-w64-dev) and LLVM's linker; programs run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_AR llvm-ar-19)  # GNU's takes half a minute to index a library, for the reason that its linker is slow
set(CMAKE_RANLIB llvm-ranlib-19)
# Wine maps pages at a fixed address; with random addresses, one start in several thousand finds the address in use.
set(CMAKE_CROSSCOMPILING_EMULATOR setarch x86_64 -R wine)

set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/../../build/platforms/windows-x86_64/sysroot /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Programs and libraries need no file of the compiler at run time. The folder has a `collect2`, which calls lld.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-static -B${CMAKE_CURRENT_LIST_DIR}/windows-x86_64/")
endforeach()
set(ZLIB_USE_STATIC_LIBS ON)
# Windows 10: the first version that replaces an open file as POSIX does. Big objects: unity sources have more
# than 32768 sections.
set(CMAKE_CXX_FLAGS_INIT "-D_WIN32_WINNT=0x0A00 -DNTDDI_VERSION=0x0A000006 -Wa,-mbig-obj")
