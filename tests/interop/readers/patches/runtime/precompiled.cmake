# Precompiles the headers that most sources include, so that ONNX Runtime builds in half the time. None is one that the patches change:
# with them, few objects are compiled again.
# Use: cmake -DCMAKE_PROJECT_INCLUDE=precompiled.cmake
function(precompile)
  set(graph core/common/common.h core/common/logging/logging.h core/graph/graph_viewer.h
      core/graph/graph_utils.h core/framework/tensorprotoutils.h)
  set(kernels ${graph} core/framework/op_kernel.h core/framework/session_state.h core/framework/utils.h)
  set(headers_onnxruntime_graph ${graph} core/graph/op.h onnx/defs/schema.h)
  set(headers_onnxruntime_framework ${kernels})
  set(headers_onnxruntime_optimizer ${kernels} core/optimizer/initializer.h core/optimizer/utils.h)
  set(headers_onnxruntime_providers ${kernels} core/providers/common.h core/util/math_cpuonly.h
      core/common/safeint.h core/mlas/inc/mlas.h)
  set(headers_onnxruntime_session ${kernels} core/session/inference_session.h)
  set(headers_onnxruntime_test_all ${kernels} core/session/inference_session.h gtest/gtest.h gmock/gmock.h)
  set(headers_onnxruntime_test_utils ${kernels})
  set(headers_onnx_test_runner_common ${kernels})
  foreach(target graph framework optimizer providers session test_all test_utils)
    list(TRANSFORM headers_onnxruntime_${target} REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    target_precompile_headers(onnxruntime_${target} PRIVATE ${headers_onnxruntime_${target}})
  endforeach()
  # It configures Eigen before it includes it.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/../onnxruntime/core/providers/cpu/tensor/onehot.cc
                              PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  cmake_language(DEFER CALL precompile)
endif()
