# Shared by the toolchains for Linux on other processors; linux-NAME.cmake sets `triplet` and `processor`. Programs run
# under qemu-user. tests/platforms/sysroot.py fills the folder that is searched for libraries and headers; the host's
# /usr/include is not used.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER ${triplet}-gcc-12)
  set(CMAKE_CXX_COMPILER ${triplet}-g++-12)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${processor} -L /usr/${triplet})
endif()

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
cmake_path(GET root PARENT_PATH root)
set(CMAKE_FIND_ROOT_PATH ${root}/build/platforms/linux-${processor}/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The sysroot has no shared libraries, so at run time programs need only those of the compiler.
set(ZLIB_USE_STATIC_LIBS ON)
set(Protobuf_USE_STATIC_LIBS ON)
