# macOS on Intel processors. The programs are linked, and cannot be run here.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig_target x86_64-macos.12.0)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
