# ./dev python [--torch | --old | --exporters [NAME...]]
#     build the wheel, install it into a separate environment, run its tests; --torch: only those with PyTorch,
#     Whisper and the model builder of ONNX Runtime GenAI, which take 5.8 GB; --old: with an ONNX Runtime before 1.21;
#     --exporters: with sklearn, lightgbm, tensorflow and paddle, or those that are named

# Tests the wheel with torch, transformers and the model builder of GenAI, which take some GB. ./dev test does not include this.
torch_test() {
  local venv=build/torch_venv test
  cat python/tests/requirements.txt python/tests/torch_requirements.txt > build/torch_requirements.txt
  environment "$venv" build/torch_requirements.txt
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/onnxar-*.whl
  for test in with_torch with_torch_devices with_whisper with_builder exporters/torch_models; do
    say "python/tests/$test.py"
    "$venv/bin/python" -B "python/tests/$test.py"
  done
}

# Tests the wheel with the last ONNX Runtime that does not know the folder of a model in memory.
old_runtime_test() {
  environment build/old_venv python/tests/old_requirements.txt
  build/old_venv/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/onnxar-*.whl
  say "python/tests/with_old_onnxruntime.py"
  build/old_venv/bin/python -B python/tests/with_old_onnxruntime.py
}

# Tests the wheel with models of other exporters, each in an environment of its own: all, or those that are named. torch has a command of its own.
exporters_test() {
  local exporter venv
  (($# > 0)) || set -- sklearn lightgbm tensorflow paddle
  for exporter; do
    [[ $exporter != torch ]] || { torch_test; continue; }
    [[ -f python/tests/exporters/$exporter.txt ]] || die "no exporter $exporter: see python/tests/exporters"
    venv=build/exporters/$exporter
    mkdir -p build/exporters
    cat python/tests/exporters/common.txt "python/tests/exporters/$exporter.txt" > "$venv.txt"
    environment "$venv" "$venv.txt"
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/onnxar-*.whl
    say "python/tests/exporters/${exporter}_models.py"
    "$venv/bin/python" -B "python/tests/exporters/${exporter}_models.py"
  done
}

local test
need python "${build_packages[@]}" "${library_packages[@]}" "${wheel_packages[@]}"
python_package
[[ ${1-} != --torch ]] || { torch_test; return; }
[[ ${1-} != --old ]] || { old_runtime_test; return; }
[[ ${1-} != --exporters ]] || { exporters_test "${@:2}"; return; }
for test in python/tests/*_test.py; do
  [[ $test != *_large_test.py ]] || continue
  say "$test"
  build/python_venv/bin/python -B "$test"
done
