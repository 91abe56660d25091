# ./dev test [--large]
#     test in minutes what users rely on: the release build, unit tests, vectors, the command, the wheel and its tests,
#     a project that uses the installed library, sessions of ONNX Runtime; --large: tests that take many minutes or up to
#     16 GiB of disk, which ./dev verify samples
need test "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" zip unzip
if [[ ${1-} == --large ]]; then
  need "test --large" "${data_packages[@]}"
  peers
  stage "build release" build release
  stage "build the wheel" python_package
  more_packages tools
  stage "test --large" run_tests large
else
  python_environments > /dev/null &  # downloads while the compiler works; what failed is tried again below, with its errors
  stage "build release" build release
  wait
  stage "build the wheel" python_package
  stage "test" run_tests release
fi
summary
