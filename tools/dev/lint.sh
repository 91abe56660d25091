# ./dev lint [--full]
#     ruff, mypy, shellcheck, clang-format, clang-tidy (only files that changed since they were last clean); --full: also
#     compile every source and header alone

sources() { find include src tools tests bench examples reader spec/examples python \( "$@" \) | sort; }

# Compiles each source and each header alone: each must include everything that it needs.
separately() {
  say "lint: every source and header alone"
  cmake --preset separate
  cmake --build --preset separate --target onnxar_schema
  "$python" -B tests/lint/compile_alone.py build/separate/compile_commands.json
}

need lint "${build_packages[@]}" "${library_packages[@]}" "${clang_packages[@]}" clang-format-19 python3-venv shellcheck
environment build/lint_venv tests/lint/requirements.txt
say "lint: scripts"
# The scripts of tools/dev run within functions of ./dev, and share its variables: SC2034, SC2154, SC2168.
shellcheck --shell=bash --severity=warning --exclude=SC2034,SC2154,SC2168 dev .ci/run tests/install/run.sh tools/dev/*.sh
say "lint: Python (ruff check --fix corrects a part)"
build/lint_venv/bin/ruff check --quiet --no-cache
build/lint_venv/bin/mypy --cache-dir build/mypy python/onnxar
say "lint: format (clang-format-19 -i corrects it)"
sources -name '*.h' -o -name '*.cc' -o -name '*.c' | xargs clang-format-19 --dry-run -Werror
say "lint: clang-tidy"
cmake --preset asan
cmake --build --preset asan --target onnxar_schema
"$python" -B tests/lint/tidy.py build/asan "$jobs"
[[ ${1-} != --full ]] || separately
