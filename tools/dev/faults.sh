# ./dev faults
#     make each system call of the commands fail in turn, and kill them before each; some minutes
local test
need faults "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" strace
build release --target onnxar onnxar_faults
for test in tests/faults/*_test.py; do
  say "$test"
  env ONNXAR="$PWD/build/release/tools/onnxar" ONNXAR_FAULTS="$PWD/build/release/tests/libonnxar_faults.so" PYTHONPATH=tests "$python" -B "$test"
done
