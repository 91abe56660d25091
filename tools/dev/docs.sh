# ./dev docs [--external | --browser]
#     write the reference pages, and build the documentation of this version into build/docs/site/VERSION, beside those of other
#     versions that are there; it works from the folder, without a server; warnings and dead links are errors; --external: also
#     other sites; --browser: look at it in Chromium with 360 and 1400 pixels, light and dark, and try search and viewer
local venv=build/docs_venv site=$PWD/build/docs/site sphinx version
need docs "${build_packages[@]}" "${library_packages[@]}" python3-venv
build release --target onnxar
environment "$venv" docs/requirements.txt
environment build/node_venv js/tools/requirements.txt
say "the pages"
version=$("$python" -B tools/release/versions.py)
"$venv/bin/python" -B docs/tools/pages.py build/release/tools/onnxar
"$venv/bin/python" -B docs/tools/assemble.py build/docs
sphinx=("$venv/bin/sphinx-build" -q -W --keep-going -c docs -d build/docs/doctrees)
"${sphinx[@]}" -b html build/docs/source "$site/$version"
build/node_venv/bin/python -B js/tools/web.py build/web --viewer "$site/$version/viewer"
"$python" -B docs/tools/site_versions.py "$site"
[[ ${1-} != --external ]] || "${sphinx[@]}" -b linkcheck build/docs/source build/docs/links
if [[ ${1-} == --browser ]]; then
  need docs chromium
  build/node_venv/bin/python -B js/tools/web.py build/web --site "$site"
fi
echo "build/docs/site/index.html"
