# Linux on IBM Z, which is big-endian, with Debian's cross compiler.
set(processor s390x)
set(triplet s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
