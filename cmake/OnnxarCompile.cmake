# Compiler options of this project's code. None of them reaches users of the libraries.

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# The folder of src/os and tools/onnxar/os with the sources for the system that this build is for.
if(CMAKE_SYSTEM_NAME STREQUAL Windows)
  set(onnxar_systems os/windows)
elseif(CMAKE_SYSTEM_NAME MATCHES "^(Darwin|Linux)$")
  set(onnxar_systems os/posix)
else()
  message(FATAL_ERROR "onnxar does not support ${CMAKE_SYSTEM_NAME}: src/os has no folder for it")
endif()

# Lets the linker drop functions that a program does not use, which makes a program that only opens an archive eight times
# smaller. Applies only to programs and shared libraries of this project, because users may need all their sections.
include(CheckLinkerFlag)
if(NOT WIN32)
  check_linker_flag(CXX LINKER:--gc-sections ONNXAR_HAVE_GC_SECTIONS)
endif()
if(ONNXAR_HAVE_GC_SECTIONS)
  add_link_options(LINKER:--gc-sections)
endif()

# Sanitizers must instrument all code of a program, including generated code, so they are set for the whole tree.
if(ONNXAR_SANITIZE)
  add_compile_options(-fsanitize=${ONNXAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ONNXAR_SANITIZE})
endif()

# Where `long` has 32 bits, the C library has 64-bit offsets and times only on request.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
endif()

# Warnings for all code except generated code.
function(onnxar_warnings target)
  if(MSVC)  # untested with MSVC; sources are UTF-8 and unity builds need /bigobj
    target_compile_options(${target} PRIVATE /W3 /utf-8 /bigobj /permissive-)
    target_compile_definitions(${target} PRIVATE _CRT_SECURE_NO_WARNINGS)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual
    # GCC 12 warns falsely of overlap if a literal is put before a std::string (GCC bug 105329, fixed in 13), and versions up
    # to 14 of uninitialised values inside empty optionals. Clang and the sanitizers look for both faults.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    # Clang warns of a deprecated function that libstdc++ 12's stable_sort calls.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    # In a unity build a name of one file may hide a name of a different file.
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow>
    $<$<BOOL:${ONNXAR_WERROR}>:-Werror>)
endfunction()
