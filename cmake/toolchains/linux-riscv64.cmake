# Linux on 64-bit RISC-V, with Debian's cross compiler.
set(processor riscv64)
set(triplet riscv64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
