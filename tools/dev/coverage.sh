# ./dev coverage [--only WORD] [--no-run]
#     branches and lines that the tests of each folder of src cover, compared with their minimum; --only runs the programs
#     whose names contain WORD, and adds what they take; --no-run only reports
need coverage "${build_packages[@]}" "${library_packages[@]}" "${clang_packages[@]}" llvm-19 \
  "${python_packages[@]}" "${data_packages[@]}"
build coverage
"$python" -B tests/coverage/coverage.py build/coverage "$@"
