# Linux on 64-bit ARM with musl, all of it linked statically; qemu-user runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(zig_target aarch64-linux-musl)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
