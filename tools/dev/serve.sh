# ./dev serve
#     run what docs/onnxruntime.md shows for Node, the web and Java with ONNX Runtime from npm and Maven, the recipes for
#     registries and web servers, the tests of the Java package and of the Rust crate with sessions of ONNX Runtime, the
#     APK of docs/mobile.md, and the parser of spec/onnxar.ksy

# The recipes with oras, MLflow, BentoML, DVC and FastAPI: half a GB of packages.
recipes() {
  local tools=$PWD/build/serving/bin
  if [[ ! -x $tools/oras ]]; then
    type -P go > /dev/null || die "oras is built by Go 1.25 or later, which Debian 12 does not have: see https://go.dev/dl"
    GOBIN=$tools GOPATH=$PWD/build/serving/go go install oras.land/oras/cmd/oras@v1.3.6
  fi
  more_packages recipes
  env ONNXAR="$PWD/build/tool/tools/onnxar" ONNXAR_PACKAGE_PYTHON="$PWD/build/recipes_venv/bin/python" PYTHONPATH=tests \
    PATH="$PWD/build/recipes_venv/bin:$PWD/build/python_venv/bin:$tools:$PATH" "$python" -B tests/docs/recipes.py
}

need serve "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" "${serve_packages[@]}" \
  aapt zipalign apksigner docker-registry git curl procps
build tool --target onnxar
python_package
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B tests/docs/serving.py build/serving
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B tests/reader/languages.py build/serving build/python_venv
npm install --prefix build/serving --ignore-scripts --no-audit --no-fund kaitai-struct-compiler@0.11.0 kaitai-struct@0.11.0 js-yaml@4
node tests/conformance/kaitai.mjs "$PWD/build/serving"
recipes
