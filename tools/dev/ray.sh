# ./dev ray
#     run the examples for Ray on a cluster of two workers, and show how much memory their sessions use
need ray "${build_packages[@]}" "${library_packages[@]}" "${wheel_packages[@]}"
python_package
environment build/ray_venv examples/ray/requirements.txt
build/ray_venv/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/onnxar-*.whl
env PYTHONPATH=tests:examples/ray build/ray_venv/bin/python -B tests/examples/ray_cluster.py
