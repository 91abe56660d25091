# The files for `cmake --install`: libraries, headers, a CMake package with components core, runtime, c, remote and model,
# pkg-config files, the media type of archives, and documents (licence, specification, examples).
include(CMakePackageConfigHelpers)

set(c_headers include/onnxar/onnxar_c.h)
file(GLOB core_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS include/onnxar/*.h include/onnxar/*.inc)
set(remote_headers include/onnxar/remote.h)
list(REMOVE_ITEM core_headers ${c_headers} ${remote_headers})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/onnxar)

# The .pc files state the prefix relative to themselves, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up_to_prefix)

# Users of a static library link its dependencies themselves; a shared one contains them.
if(NOT BUILD_SHARED_LIBS)
  set(core_requires "zlib")
  if(ISAL_FOUND)
    string(APPEND core_requires " libisal")
  endif()
  set(core_libs " -pthread")
  if(CMAKE_DL_LIBS)  # a part of the C library since glibc 2.34
    string(APPEND core_libs " -l${CMAKE_DL_LIBS}")
  endif()
  if(TARGET onnxar_bundled_zlib)  # then it is installed with the core
    set(core_requires "")
    string(PREPEND core_libs " -lonnxar_bundled_zlib")
    install(TARGETS onnxar_bundled_zlib EXPORT onnxar-core-targets)
    set(onnxar_zlib_inside TRUE)
  endif()
else()
  set(shared_cflags " -DONNXAR_SHARED")  # onnxar/version.h
endif()

function(onnxar_install name)
  install(TARGETS onnxar_${name} EXPORT onnxar-${name}-targets)
  install(EXPORT onnxar-${name}-targets NAMESPACE onnxar:: DESTINATION ${package_dir})
  install(FILES ${ARGN} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onnxar)
  onnxar_install_pc(${name})
endfunction()

function(onnxar_install_pc name)
  configure_file(cmake/onnxar-${name}.pc.in onnxar-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/onnxar-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

onnxar_install(core ${core_headers})
install(TARGETS onnxar_runtime EXPORT onnxar-core-targets)  # each of the two names the other
onnxar_install_pc(runtime)
if(ONNXAR_BUILD_C)
  onnxar_install(c ${c_headers})
endif()
if(TARGET onnxar_remote AND (ONNXAR_BUILD_REMOTE OR BUILD_SHARED_LIBS))  # a shared command needs the library
  onnxar_install(remote ${remote_headers})
endif()
# The headers of the model include protobuf's, which are installed only with the system's protobuf.
if(ONNXAR_BUILD_MODEL AND NOT TARGET onnxar_bundled_protobuf)
  onnxar_install(model ${PROJECT_BINARY_DIR}/generated/onnxar/onnx.pb.h)
  install(DIRECTORY include/onnxar/model DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onnxar)
endif()

configure_package_config_file(cmake/onnxar-config.cmake.in onnxar-config.cmake INSTALL_DESTINATION ${package_dir})
# Sources that used an older 1.x compile with a newer one (docs/abi.md).
write_basic_package_version_file(onnxar-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/onnxar-config.cmake ${PROJECT_BINARY_DIR}/onnxar-config-version.cmake
  cmake/FindISAL.cmake DESTINATION ${package_dir})

# The rest is for an installed system. A containing project installs its own documents.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# Registers the media type of archives (spec/media-type.md).
install(FILES spec/media-type/onnxar.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
install(FILES spec/media-type/onnxar.magic DESTINATION ${CMAKE_INSTALL_DATADIR}/file)

# Every copy must include the licence. The specification is installed with its reference reader and examples, but
# without the vectors: these are 5 MB of inputs for tests of other implementations, whose authors have the repository.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY spec examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN vectors EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN target EXCLUDE)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN tools EXCLUDE PATTERN conf.py EXCLUDE PATTERN requirements.txt EXCLUDE PATTERN site.css EXCLUDE PATTERN templates EXCLUDE)
# Files to which these pages link are installed beside them, as in the repository.
file(GLOB linked RELATIVE ${PROJECT_SOURCE_DIR} *.md bench/*.md js/*.md js/demo/index.html js/demo/*.png packaging/*.md
  python/*.md reader/*.[ch] reader/*/*.md spec/vectors/README.md src/*.md tests/*.md tests/interop/readers/upstream_programs/*
  tests/platforms/skipped/*.txt upstream/*/*.md upstream/*/*.png)
foreach(file IN LISTS linked)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
