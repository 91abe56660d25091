# ./dev upstream [NAME...]
#     try the patches of upstream/ (onnx, onnx_ir, netron, onnxruntime; or only NAME) on the newest releases of PyPI: build, run
#     each project's own tests before and after, and the new ones; in build/upstream, about an hour
need upstream "${build_packages[@]}" "${library_packages[@]}" "${wheel_packages[@]}" git nodejs npm chromium
environment build/upstream/venv tests/upstream/requirements.txt
build/upstream/venv/bin/python -B tests/upstream/run.py "$@"
