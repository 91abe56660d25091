# ./dev upstream [NAME...]
#     try the patches of upstream/ (onnx, onnx_ir, netron, huggingface_js, onnxruntime; or only NAME) on the newest releases: build, run
#     each project's own tests before and after, and the new ones; in build/upstream, about an hour. onnxruntime: builds 1.21 in
#     a bare Debian 13, in ONNXRUNTIME_FOLDER or build/upstream/onnxruntime, in one to two hours more; continues where it stopped
need upstream "${build_packages[@]}" "${library_packages[@]}" "${wheel_packages[@]}" git nodejs npm chromium debootstrap libonnx-testdata
environment build/upstream/venv tests/interop/readers/patches/requirements.txt
build/upstream/venv/bin/python -B tests/interop/readers/patches/run.py "$@"
