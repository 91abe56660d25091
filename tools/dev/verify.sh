# ./dev verify
#     the rest that a change must pass: lint, the tests that ./dev test leaves out (foreign zip tools, servers, documents,
#     peers, platforms, faults, races), the web, the documentation in Chromium, ASan and UBSan with the fuzz targets' inputs, TSan

# The build without a preset, as users make it, has the compiler's commands of the release build, except that warnings
# are not errors.
plain_build() {
  say "the build without a preset"
  cmake -S . -B build/plain -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
  "$python" -B tests/install/plain.py build/plain build/release
}

tsan() {
  build tsan
  run_tests tsan
}

need verify "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" "${data_packages[@]}" \
  "${clang_packages[@]}" "${cross_packages[@]}" clang-format-19 python3-clang-19 "${rust_packages[@]}"
peers
build/peers_venv/bin/python tests/interop/readers/fetch.py build/onnxruntime
[[ -x build/python_venv/bin/python ]] || stage "build the wheel" python_package
more_packages signing
more_packages tools
stage "lint" run lint
stage "build release" build release
stage "the build without a preset" plain_build
stage "test verify" run_tests verify
stage "web --fast" run web --fast
stage "docs --browser" run docs --browser
stage "build asan" build asan
stage "test asan" run_tests asan
stage "build and test tsan" tsan
summary
