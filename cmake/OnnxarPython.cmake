# Finds Python and nanobind for the extension module, usually with the interpreter that builds the package. With ONNXAR_PYTHON_HEADERS,
# folders with Python.h and pyconfig.h, the module is built for a different Python or system than the one that builds it;
# tools/release/wheels.py does so, and names the file's ending and, on Windows, the import library.
set(ONNXAR_PYTHON_HEADERS "" CACHE STRING "Folders with the headers of the Python to build for, if it cannot run here")
set(ONNXAR_PYTHON_SUFFIX "" CACHE STRING "With ONNXAR_PYTHON_HEADERS: the ending of the module's file")
set(ONNXAR_PYTHON_LIBRARY "" CACHE FILEPATH "With ONNXAR_PYTHON_HEADERS, for Windows: the import library")
option(ONNXAR_PYTHON_STABLE_ABI "With ONNXAR_PYTHON_HEADERS: use the stable ABI of Python 3.12" OFF)

if(NOT ONNXAR_PYTHON_HEADERS)
  find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
else()
  find_file(patchlevel patchlevel.h PATHS ${ONNXAR_PYTHON_HEADERS} NO_CACHE REQUIRED NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  file(STRINGS ${patchlevel} version REGEX "define PY_VERSION ")
  string(REGEX MATCH "[0-9]+\\.[0-9]+" Python_VERSION "${version}")
  set(Python_INTERPRETER_ID Python)
  set(Python_INCLUDE_DIRS ${ONNXAR_PYTHON_HEADERS})
  set(SKBUILD_SOABI "")  # otherwise nanobind asks the interpreter for the endings
  set(SKBUILD_SOSABI "")
  set(NB_SUFFIX ${ONNXAR_PYTHON_SUFFIX})
  foreach(target Python::Module Python::SABIModule)
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} SYSTEM INTERFACE ${ONNXAR_PYTHON_HEADERS})
    target_link_libraries(${target} INTERFACE ${ONNXAR_PYTHON_LIBRARY})
    if(WIN32)  # pyconfig.h detects it only for Microsoft's compiler
      target_compile_definitions(${target} INTERFACE MS_WIN64=)
    endif()
  endforeach()
  add_executable(Python::Interpreter IMPORTED)
endif()
