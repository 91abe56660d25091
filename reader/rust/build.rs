//! Compiles the reader, whose two files are links in the source tree and files in the package.

fn main() {
    println!("cargo:rerun-if-changed=c");
    let mut build = cc::Build::new();
    build.file("c/onnxar_reader.c").define("OAR_NO_STDIO", None).std("c99").warnings(true);
    build.compile("onnxar_reader");
}
