# Linux on 64-bit ARM, with Debian's cross compiler.
set(processor aarch64)
set(triplet aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
