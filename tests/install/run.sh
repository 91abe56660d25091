#!/usr/bin/env bash
# run.sh BUILD_DIR [media]: installs that build into a temporary prefix, then builds and runs a consumer by CMake package and by
# pkg-config, in C++ and in C. The tree is moved after the install, since an installed library must not depend on its path.
# media: instead asks `file` and the MIME database for the type of an archive.
set -euo pipefail
build=$(realpath -e "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
cmake=${CMAKE:-cmake} compiler=${CXX:-c++} c_compiler=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" > "$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pkgconfig=$(dirname "$(find "$prefix" -name onnxar-core.pc)")
export LD_LIBRARY_PATH=${pkgconfig%/pkgconfig}  # for a shared build

if [[ ${2-} == media ]]; then
  XDG_DATA_DIRS=$prefix/share update-mime-database "$prefix/share/mime"
  cp "$here/../../spec/vectors/valid/alignment_128.onnxar" "$work/archive.onnxar"
  cp "$work/archive.onnxar" "$work/archive-without-extension"
  for archive in "$work/archive.onnxar" "$work/archive-without-extension"; do
    told=$(file -b --mime-type -m "$prefix/share/file/onnxar.magic" "$archive")
    [[ $told == application/vnd.onnx.archive+zip ]] || { echo "file says that the type of $archive is $told"; exit 1; }
  done
  told=$(XDG_DATA_HOME=$work XDG_DATA_DIRS=$prefix/share gio info -a standard::content-type "$work/archive.onnxar")
  [[ $told == *application/vnd.onnx.archive+zip* ]] || { echo "the MIME database says that the type is $told"; exit 1; }
  exit
fi

echo "what it asks of programs"
python3 "$here/interface.py" "$prefix"

# A section that nothing refers to, as programs have for their version, must outlive the link.
keeps_sections() { grep -q "section of the consumer" "$1" || { echo "$1 lost a section of its own"; exit 1; }; }

echo "links of the installed documents"
python3 "$here/links.py" "$prefix/share/doc/onnxar"

echo "by CMake package"
"$cmake" -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler"
"$cmake" --build "$work/cmake"
"$work/cmake/consumer" "$work/by-cmake.onnxar"
keeps_sections "$work/cmake/consumer"

echo "what find_package says of an unknown component"
mkdir "$work/unknown"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(unknown LANGUAGES NONE)\nfind_package(onnxar REQUIRED COMPONENTS onnx)\n' \
  > "$work/unknown/CMakeLists.txt"
told=$("$cmake" -S "$work/unknown" -B "$work/unknown/build" -DCMAKE_PREFIX_PATH="$prefix" 2>&1 || true)
[[ $told == *'There is no component `onnx`'* ]] || { echo "it says: $told"; exit 1; }

echo "by pkg-config"
read -ra flags < <(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs onnxar-model)
"$compiler" -std=c++20 "$here/main.cc" "${flags[@]}" -o "$work/consumer"
"$work/consumer" "$work/by-pkg-config.onnxar"
keeps_sections "$work/consumer"

echo "exported symbols"
if [[ -f ${pkgconfig%/pkgconfig}/libonnxar_core.a ]]; then
  read -ra flags < <(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs onnxar-core)
  "$compiler" -std=c++20 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden \
    "$here/plugin/plugin.cc" "${flags[@]}" -o "$work/plugin.so"
  python3 "$here/symbols.py" plugin "$work/plugin.so"
  echo "the size of a program that opens an archive, linked as docs/install.md says"
  "$compiler" -std=c++20 -O2 "$here/reads.cc" "${flags[@]}" -Wl,--gc-sections -o "$work/reads"
  "$work/reads" "$work/by-cmake.onnxar"
  strip "$work/reads"
  size=$(stat -c %s "$work/reads")
  ((size <= 265000)) || { echo "it has $size bytes; 265 000 are allowed"; exit 1; }
else
  for library in core runtime model; do
    python3 "$here/symbols.py" library "${pkgconfig%/pkgconfig}/libonnxar_$library.so" "$prefix/include/onnxar"
  done
fi

if [[ -f $pkgconfig/onnxar-c.pc ]]; then
  echo "from C"
  "$cmake" -S "$here/c" -B "$work/c" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$c_compiler"
  "$cmake" --build "$work/c"
  "$work/c/c_consumer" "$work/by-cmake.onnxar"
  read -ra flags < <(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs onnxar-c)
  "$c_compiler" -std=c99 -pedantic -Werror "$here/c/main.c" "${flags[@]}" -o "$work/c_program"
  "$work/c_program" "$work/by-cmake.onnxar"
fi

if [[ -x $prefix/bin/onnxar ]]; then
  "$prefix/bin/onnxar" --version
  echo "its manual page and completions"
  share=$prefix/share
  cmp <("$prefix/bin/onnxar" man) "$share/man/man1/onnxar.1"
  cmp <("$prefix/bin/onnxar" completion bash) "$share/bash-completion/completions/onnxar"
  cmp <("$prefix/bin/onnxar" completion zsh) "$share/zsh/site-functions/_onnxar"
  cmp <("$prefix/bin/onnxar" completion fish) "$share/fish/vendor_completions.d/onnxar.fish"
fi

echo "documents"
documents=$prefix/share/doc/onnxar
for document in LICENSE README.md CHANGELOG.md docs/abi.md spec/README.md spec/onnx-archive.md spec/reference/onnxar_reader.py \
  spec/examples/README.md examples/runtime_map.cc examples/write_and_read.c; do
  [[ -f $documents/$document ]] || { echo "not installed: $document"; exit 1; }
done
[[ ! -e $documents/spec/vectors/manifest.json ]] || { echo "the vectors are installed"; exit 1; }
