# Linux on 32-bit x86, with the host's compiler and -m32; programs run natively.
set(processor i386)
set(triplet i386-linux-gnu)
set(CMAKE_C_COMPILER gcc-12)
set(CMAKE_CXX_COMPILER g++-12)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
# SSE2, so that floating-point numbers have the precision of their type. The kernel's headers are those of the host.
set(flags "-m32 -march=pentium4 -msse2 -mfpmath=sse -idirafter /usr/include/x86_64-linux-gnu")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})
