# ./dev examples [--large]
#     writers and loaders with zip libraries of six languages (spec/examples); each loader reads what each writer writes;
#     --large: also entries beyond 4 GiB, which take 5 GiB of disk and minutes
local out=$PWD/build/stock from=spec/examples large=()
[[ ${1-} != --large ]] || large=(ONNXAR_STOCK_LARGE=1)
need examples "${build_packages[@]}" "${python_packages[@]}" "${wheel_packages[@]}" nodejs golang-go openjdk-17-jdk-headless libcommons-compress-java rustc-web cargo-web
environment build/python_venv python/tests/requirements.txt
build tool
say "Go, Java and Rust"
GO111MODULE=off go build -o "$out/go/write" $from/go/{write,wire}.go
GO111MODULE=off go build -o "$out/go/load" $from/go/{load,container,wire}.go
javac -Xlint:all,-path -Werror -d "$out/java" -cp /usr/share/java/commons-compress.jar $from/java/*.java
cargo build --quiet --release --locked --manifest-path $from/rust/Cargo.toml --target-dir "$out/rust"
say "tests/examples/stock_test.py"
env ONNXAR=build/tool/tools/onnxar ONNXAR_EXAMPLES=build/tool/examples ONNXAR_STOCK="$out" PYTHONPATH=tests "${large[@]}" \
  "$python" -B tests/examples/stock_test.py
