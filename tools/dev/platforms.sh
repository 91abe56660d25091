# ./dev platforms [--all] [--list] [NAME...]
#     build for Windows, macOS, other processors and C++ libraries, run the tests that changed (--all: each) under Wine
#     and qemu, and write docs/platforms.md
need platforms "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${data_packages[@]}" "${cross_packages[@]}" \
  g++-12-aarch64-linux-gnu g++-12-riscv64-linux-gnu g++-12-multilib clang-19 libc++-19-dev libc++abi-19-dev python3-venv
environment build/zig_venv tests/platforms/requirements.txt
"$python" -B tests/platforms/platforms.py "$@"
