# ./dev release [--trial]
#     wheels, binaries, libraries, the reader, notes and sums, from a clean tag, into build/release/onnxar-VERSION; --trial: from any tree
# ./dev release --publish --dry-run [pypi | npm | crates | maven | tag]...
#     build and check what PyPI, npm, crates.io and Maven Central get, and whether the commit can get its tag, with the registries'
#     own dry runs; upload nothing; print what is ready, and what a person does with which account. pypi: an hour, unless
#     `./dev release` has made the wheels of this commit
if [[ ${1-} == --publish ]]; then
  need release "${serve_packages[@]}" "${rust_packages[@]}"
  environment build/node_venv js/tools/requirements.txt
  release_tools publish.py "${@:2}"
  return
fi
release_tools release.py "$@"
