# ./dev docs [--external]
#     write the reference pages, and build the documentation into build/docs/html/docs; warnings and dead links are
#     errors; --external: also other sites
local venv=build/docs_venv sphinx
need docs "${build_packages[@]}" "${library_packages[@]}" python3-venv
build release --target onnxar
environment "$venv" docs/requirements.txt
say "the pages"
"$venv/bin/python" -B docs/tools/pages.py build/release/tools/onnxar
"$venv/bin/python" -B docs/tools/assemble.py build/docs
sphinx=("$venv/bin/sphinx-build" -q -W --keep-going -c docs -d build/docs/doctrees)
"${sphinx[@]}" -b html build/docs/source build/docs/html
[[ ${1-} != --external ]] || "${sphinx[@]}" -b linkcheck build/docs/source build/docs/links
echo "build/docs/html/docs/index.html"
