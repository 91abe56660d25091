# Included after project() in the build for mutation testing: every unit sees `on`, and the test programs get the recorder. The
# standard library's assertions end a mutant that reads an empty optional or beyond a span, as sanitizers would.
# REQUIRES: ONNXAR_MUTATION_SITES, an upper bound of their number; ONNXAR_MUTATION_PROGRAMS.
add_compile_options(-w -D_GLIBCXX_ASSERTIONS -I${CMAKE_CURRENT_LIST_DIR} -DONNXAR_MUTATION_SITES=${ONNXAR_MUTATION_SITES}
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/mutate.h>")
set(onnxar_mutation_recorder ${CMAKE_CURRENT_LIST_DIR}/recorder.cc)
function(onnxar_add_recorder)
  foreach(program IN LISTS ONNXAR_MUTATION_PROGRAMS)
    target_sources(${program} PRIVATE ${onnxar_mutation_recorder})
  endforeach()
endfunction()
cmake_language(DEFER CALL onnxar_add_recorder)
