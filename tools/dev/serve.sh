# ./dev serve
#     run what docs/onnxruntime.md shows for Node, the web and Java with ONNX Runtime from npm and Maven
need serve "${build_packages[@]}" "${python_packages[@]}" "${serve_packages[@]}"
build tool --target onnxar
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B tests/docs/serving.py build/serving
