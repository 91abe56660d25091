# ./dev serve
#     run what docs/onnxruntime.md shows for Node, the web and Java with ONNX Runtime from npm and Maven, the tests of the
#     Java package and of the Rust crate with sessions of ONNX Runtime, the APK of docs/mobile.md, and the parser of
#     spec/onnxar.ksy
need serve "${build_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" "${serve_packages[@]}" aapt zipalign apksigner
build tool --target onnxar
python_environments
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B tests/docs/serving.py build/serving
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B tests/reader/languages.py build/serving build/python_venv
npm install --prefix build/serving --ignore-scripts --no-audit --no-fund kaitai-struct-compiler@0.11.0 kaitai-struct@0.11.0 js-yaml@4
node tests/conformance/kaitai.mjs "$PWD/build/serving"
