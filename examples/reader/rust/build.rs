//! Compiles the reader. In a crate of your own, copy the two files beside Cargo.toml.
use std::env;
use std::path::PathBuf;

fn main() {
    let beside = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../reader");
    let folder = env::var("ONNXAR_READER").map(PathBuf::from).unwrap_or(beside);
    for name in ["onnxar_reader.h", "onnxar_reader.c"] {
        println!("cargo:rerun-if-changed={}", folder.join(name).display());
    }
    println!("cargo:rerun-if-env-changed=ONNXAR_READER");
    let mut build = cc::Build::new();
    build.file(folder.join("onnxar_reader.c")).include(&folder).std("c99").warnings(true);
    build.compile("onnxar_reader");
}
