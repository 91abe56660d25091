# The reader in two files, for tests and benchmarks: compiled as programs that copy it do.
enable_language(C)
add_library(onnxar_reader STATIC ${PROJECT_SOURCE_DIR}/reader/onnxar_reader.c)
target_include_directories(onnxar_reader PUBLIC ${PROJECT_SOURCE_DIR}/reader)
set_target_properties(onnxar_reader PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(onnxar_reader PRIVATE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${ONNXAR_WERROR}>:-Werror>)
