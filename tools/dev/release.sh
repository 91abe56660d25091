# ./dev release [--trial]
#     wheels, binaries, libraries, the reader, notes and sums, from a clean tag, into build/release/onnxar-VERSION; --trial: from any tree
release_tools release.py "$@"
