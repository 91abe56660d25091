# ./dev mutate [ROOM...] [--again] [--sample N] [--write]
#     change checks of zip, archive and onnx one at a time, and see whether a test notices; --help lists more
need mutate "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" clang-19 python3-clang-19
"$python" -B tests/mutation/run.py "$@"
