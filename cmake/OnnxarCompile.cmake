# How our own code is compiled. Everything here stays in the build: nothing reaches those who link the libraries.

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Sanitizers must see all code of a program, generated code too; so they are set for the whole tree.
if(ONNXAR_SANITIZE)
  add_compile_options(-fsanitize=${ONNXAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ONNXAR_SANITIZE})
endif()

# Warnings for code that people write; generated code does without.
function(onnxar_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual
    # GCC 12 sees an overlap where a literal is put before a std::string (GCC bug 105329, mended in 13), and moved-from
    # strings inside optionals as uninitialised; clang and the sanitizers look for both faults.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized>
    # Clang takes the temporary buffer inside libstdc++ 12's stable_sort for a use of ours.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    # Names of one file may stand for something else in another that is compiled with it.
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow>
    $<$<BOOL:${ONNXAR_WERROR}>:-Werror>)
endfunction()
