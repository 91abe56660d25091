# ./dev demo [MODEL]
#     pack a model, list, check, map, unpack and compare it; without MODEL, makes one
local model=""
(($# == 0)) || model=$(cd "$here" && realpath -e "$1")
need demo "${build_packages[@]}" "${python_packages[@]}"
build tool
"$python" -B examples/demo.py build/tool build/demo ${model:+"$model"}
