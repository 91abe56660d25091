# ./dev interop [--small] [--again] [TOOL...]
#     run other tools, from PyPI, npm, Maven and crates.io (with Rust 1.94), on links, unzipped folders and archives of
#     nine models, and write docs/interop.md; some GB; --small leaves out the model above 2 GiB
need interop "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" "${serve_packages[@]}" libvulkan1
build tool --target onnxar
python_package
env ONNXAR="$PWD/build/tool/tools/onnxar" PYTHONPATH=tests "$python" -B -m interop.readers.matrix "$@"
