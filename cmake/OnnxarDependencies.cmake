# Finds everything that the build needs besides a compiler, and names all that is missing in one message. What a source
# distribution has in bundled/ is built from there if the system lacks it.
include(OnnxarBundled)

set(ONNXAR_BUNDLED AUTO CACHE STRING "Use the libraries in bundled/: AUTO, those that are not found; ALL; NONE")
set_property(CACHE ONNXAR_BUNDLED PROPERTY STRINGS AUTO ALL NONE)
set(onnxar_missing "")   # a line for each package
set(onnxar_packages "")  # their names on Debian

function(onnxar_lacks name packages purpose)
  string(JOIN " " words ${packages})
  set(onnxar_missing "${onnxar_missing}  ${name} (Debian: ${words}), ${purpose}\n" PARENT_SCOPE)
  set(onnxar_packages ${onnxar_packages} ${packages} PARENT_SCOPE)
endfunction()

# Sets onnxar_take to true if the package must be built from bundled/.
macro(onnxar_consider name found)
  set(onnxar_take FALSE)
  if(ONNXAR_BUNDLED STREQUAL ALL OR (ONNXAR_BUNDLED STREQUAL AUTO AND NOT ${found}))
    onnxar_bundled_archive(${name})
    if(${name}_archive)
      set(onnxar_take TRUE)
    elseif(ONNXAR_BUNDLED STREQUAL ALL)
      message(FATAL_ERROR "ONNXAR_BUNDLED is ALL, but bundled/ has no archive of ${name}. `./dev wheels fetch` fetches it; source distributions have it.")
    endif()
  endif()
endmacro()

# True if the library is searched on this system at all.
set(onnxar_look TRUE)
if(ONNXAR_BUNDLED STREQUAL ALL)
  set(onnxar_look FALSE)
endif()

find_package(Threads REQUIRED)

if(onnxar_look)
  find_package(ZLIB QUIET)
  find_package(ISAL QUIET)
endif()
onnxar_consider(zlib ZLIB_FOUND)
if(onnxar_take)
  enable_language(C)
  if(DEFINED zig_target)
    # CMake believes that every link needs the static C library in zig's cache, also the link of a module.
    set(CMAKE_C_IMPLICIT_LINK_LIBRARIES "")
  endif()
  onnxar_bundle_zlib()
elseif(NOT ZLIB_FOUND)
  onnxar_lacks(zlib zlib1g-dev "for all of onnxar")
endif()

# The command needs two header-only libraries. They are imported, so that their headers count as system headers.
if(ONNXAR_BUILD_TOOLS)
  foreach(header CLI11:CLI11::CLI11:libcli11-dev nlohmann_json:nlohmann_json::nlohmann_json:nlohmann-json3-dev)
    string(REGEX MATCH "^([^:]+):(.+):([^:]+)$" header ${header})
    set(onnxar_name ${CMAKE_MATCH_1})
    set(onnxar_target ${CMAKE_MATCH_2})
    set(onnxar_debian ${CMAKE_MATCH_3})
    if(onnxar_look)
      find_package(${onnxar_name} CONFIG QUIET)
    endif()
    onnxar_consider(${onnxar_name} ${onnxar_name}_FOUND)
    if(onnxar_take)
      onnxar_bundled_headers(${onnxar_name} ${onnxar_target})
    elseif(NOT ${onnxar_name}_FOUND)
      onnxar_lacks(${onnxar_name} ${onnxar_debian} "for the command `onnxar` (without it: -DONNXAR_BUILD_TOOLS=OFF)")
    endif()
  endforeach()
endif()

if(ONNXAR_BUILD_MODEL)  # ON or AUTO
  if(onnxar_look)
    find_package(Protobuf QUIET)
  endif()
  set(onnxar_protobuf_found FALSE)
  if(TARGET protobuf::libprotobuf AND TARGET protobuf::protoc)
    set(onnxar_protobuf_found TRUE)
  endif()
  onnxar_consider(protobuf onnxar_protobuf_found)
  set(onnxar_schema_dir "")  # the folder of the generated code, if protoc need not make it
  if(onnxar_take)
    onnxar_bundle_protobuf()
    set(onnxar_schema_dir ${ONNXAR_BUNDLED_DIR}/generated)
    set(ONNXAR_BUILD_MODEL ON)
  elseif(onnxar_protobuf_found)
    set(ONNXAR_BUILD_MODEL ON)
  elseif(ONNXAR_BUILD_MODEL STREQUAL AUTO)
    message(WARNING "protobuf was not found (Debian: libprotobuf-dev protobuf-compiler). onnxar::model is left out; "
      "`onnxar show`, `diff`, `dump`, `freeze` and models as text will not work.")
    set(ONNXAR_BUILD_MODEL OFF)
  else()
    onnxar_lacks(protobuf "libprotobuf-dev;protobuf-compiler"
      "for `onnxar show`, `diff`, `dump`, `freeze` and models as text (without them: -DONNXAR_BUILD_MODEL=OFF)")
  endif()
endif()

if(ONNXAR_BUILD_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    onnxar_lacks(GoogleTest "libgtest-dev;libgmock-dev" "for the tests (without them: -DONNXAR_BUILD_TESTS=OFF)")
  endif()
endif()

if(ONNXAR_BUILD_BENCH)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    onnxar_lacks("Google Benchmark" libbenchmark-dev "for the benchmarks (without them: -DONNXAR_BUILD_BENCH=OFF)")
  endif()
endif()

if(ONNXAR_BUILD_PYTHON)
  include(OnnxarPython)
  if(NOT TARGET Python::Module)
    onnxar_lacks("the headers of Python 3.10 or later" python3-dev "for the extension module")
  endif()
endif()

if(onnxar_missing)
  list(JOIN onnxar_packages " " onnxar_packages)
  message(FATAL_ERROR "onnxar cannot be built here. Missing:\n${onnxar_missing}"
    "On Debian and Ubuntu:\n  apt-get install ${onnxar_packages}\n"
    "Or build the source distribution of the release, which brings zlib, CLI11, nlohmann_json and protobuf.")
endif()
