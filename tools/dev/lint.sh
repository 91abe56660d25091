# ./dev lint [--full]
#     clang-format, clang-tidy (only files that changed since they were last clean), bash -n; --full: also compile
#     every source and header alone

sources() { find include src tools tests bench examples reader spec/examples python \( "$@" \) | sort; }

# Compiles each source and each header alone: each must include everything that it needs.
separately() {
  say "lint: every source and header alone"
  cmake --preset separate
  cmake --build --preset separate --target onnxar_schema
  "$python" -B tests/lint/compile_alone.py build/separate/compile_commands.json
}

need lint "${build_packages[@]}" "${library_packages[@]}" "${clang_packages[@]}" clang-format-19 python3-venv
environment build/lint_venv tests/lint/requirements.txt
say "lint: scripts"
for script in dev .ci/run tests/install/run.sh tools/dev/*.sh; do bash -n "$script"; done
say "lint: format (clang-format-19 -i corrects it)"
sources -name '*.h' -o -name '*.cc' -o -name '*.c' | xargs clang-format-19 --dry-run -Werror
say "lint: clang-tidy"
cmake --preset asan
cmake --build --preset asan --target onnxar_schema
"$python" -B tests/lint/tidy.py build/asan "$jobs"
[[ ${1-} != --full ]] || separately
