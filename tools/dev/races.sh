# ./dev races [SECONDS]
#     eight processes edit, undo, repack and read one archive, 60 seconds by default
need races "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}"
build release --target onnxar onnxar_race_reader
env ONNXAR=build/release/tools/onnxar ONNXAR_RACE_READER=build/release/tests/onnxar_race_reader PYTHONPATH=tests \
  "$python" -B tests/races/races_test.py "${1:-60}"
