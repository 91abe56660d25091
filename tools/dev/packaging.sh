# ./dev packaging [debian | conan | conda | vcpkg | homebrew]...
#     build and try the recipes of packaging/: packages in bare Debian 12 and 13 with lintian and autopkgtest (needs root),
#     `conan create`, rattler-build, the port with vcpkg's scripts (those in VCPKG_ROOT); the formula's syntax
local names=("$@") name
((${#names[@]})) || names=(debian conan conda vcpkg homebrew)
need packaging "${build_packages[@]}" "${library_packages[@]}" debootstrap ruby python3-venv git
environment build/packaging_venv tools/release/requirements_packaging.txt
for name in "${names[@]}"; do
  [[ -f tools/release/try_$name.py ]] || die "packaging/ has no recipe for '$name'"
  say "packaging: $name"
  build/packaging_venv/bin/python -B "tools/release/try_$name.py"
done
