# ./dev bench [ARGS]
#     benchmarks, side by side with alternatives; --help lists ARGS
need bench "${build_packages[@]}" "${library_packages[@]}" libbenchmark-dev "${python_packages[@]}" "${wheel_packages[@]}" zip libzip4 util-linux xfsprogs openssl
if [[ " $* " == *" remote "* ]]; then
  need "bench remote" nginx-light curl
  environment build/node_venv js/tools/requirements.txt
fi
if [[ " $* " == *" updates "* ]]; then
  need "bench updates" nginx-light rsync zsync
fi
cmake --preset release -DONNXAR_BUILD_BENCH=ON
build release
peers
python_package
ONNXAR=build/release/tools/onnxar "$python" -B bench/run.py "$@"
