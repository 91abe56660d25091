# ./dev fuzz [--minimise | --total] [TARGET] [SECONDS] [-OPTION=VALUE...]
#     fuzz one target of tests/fuzz, or each in turn, 60 seconds by default, from what earlier runs found; --minimise:
#     write tests/fuzz/corpus again; --total: print how many inputs ran
# ./dev fuzz differential N [SEED [FIRST]]
#     compare other zip readers on N mutants; files that two of them read differently are kept in build/fuzz/differential

differential() {  # N [SEED [FIRST]]
  need "fuzz differential" "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" unzip p7zip-full \
    libarchive-tools libzip4 libminizip1
  build release --target onnxar_accepts
  say "fuzz differential $*"
  ONNXAR_BUILD_PEERS=1 ONNXAR_ACCEPTS=build/release/tests/onnxar_accepts PYTHONPATH=tests \
    "$python" -B tests/interop/zip/fuzz.py "$@"
}

[[ ${1-} != differential ]] || { differential "${@:2}"; return; }
need fuzz "${build_packages[@]}" "${library_packages[@]}" "${clang_packages[@]}" "${python_packages[@]}"
build fuzz
"$python" -B tests/fuzz/run.py build/fuzz/tests/fuzz "$@"
