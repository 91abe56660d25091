# ./dev web [--fast | --memory]
#     the npm package in js/: types, lint, vectors and 20000 mutants in Node and Chromium, sessions of onnxruntime-web,
#     the demo, the packed package; --fast: types, lint, vectors, 1000 mutants, Blobs, metadata, and the store in Node and Chromium; --memory:
#     measure sessions, for bench/RESULTS.md
local out=$PWD/build/web venv=build/node_venv
need web "${build_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" nginx-light chromium
environment "$venv" js/tools/requirements.txt
build release --target onnxar onnxar_accepts
env PYTHONPATH=tests ONNXAR="$PWD/build/release/tools/onnxar" ONNXAR_ACCEPTS="$PWD/build/release/tests/onnxar_accepts" \
  "$venv/bin/python" -B js/tools/web.py "$out" "$@"
