# Shared by the toolchain files with `zig` as the compiler, which has clang, libc++ and the C libraries of other systems. Each
# of these files sets CMAKE_SYSTEM_NAME, CMAKE_SYSTEM_PROCESSOR and zig_target.
#
# `./dev platforms` installs the package `ziglang` from PyPI into build/zig_venv, and writes the programs zig-clang and
# zig-clang++ there: CMake and ccache expect a compiler of one word, and `zig c++` has two. ONNXAR_ZIG in the environment
# names a different folder with these programs. zig builds libc++ once for each level of optimisation, for minutes:
# ONNXAR_ZIG_FLAGS has that of the build, so that CMake's own programs use the same one.
if(DEFINED ENV{ONNXAR_ZIG})
  set(zig_folder $ENV{ONNXAR_ZIG})
else()
  cmake_path(SET zig_folder NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/zig_venv/bin)
endif()

foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET ${zig_target})
  # By default zig adds a sanitizer to builds that are not optimised.
  set(CMAKE_${language}_FLAGS_INIT "-fno-sanitize=all $ENV{ONNXAR_ZIG_FLAGS}")
  # GNU's ar does not write the index of an archive of Mach-O objects.
  set(CMAKE_${language}_ARCHIVE_CREATE "${zig_folder}/zig ar qc <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "${zig_folder}/zig ar q <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "${zig_folder}/zig ranlib <TARGET>")
endforeach()
set(CMAKE_C_COMPILER ${zig_folder}/zig-clang)
set(CMAKE_CXX_COMPILER ${zig_folder}/zig-clang++)

if(CMAKE_SYSTEM_NAME STREQUAL Darwin)
  set(CMAKE_INSTALL_NAME_TOOL /bin/true)  # CMake requires it; only an installation calls it, and zig lacks it
endif()

# Libraries and headers of this machine are for a different system; tests/platforms/platforms.py fills the folder that is
# searched instead.
cmake_path(GET CMAKE_PARENT_LIST_FILE STEM zig_platform)
cmake_path(SET CMAKE_FIND_ROOT_PATH NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/platforms/${zig_platform}/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
