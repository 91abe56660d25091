# ./dev platforms [--all] [--list] [NAME...]
#     build for Windows, macOS, other processors and C++ libraries, run the tests that changed (--all: each) under Wine
#     and qemu, and write docs/platforms.md
need platforms "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${data_packages[@]}" "${cross_packages[@]}" \
  "${platform_packages[@]}"
environment build/zig_venv tests/platforms/requirements.txt
"$python" -B tests/platforms/platforms.py "$@"
