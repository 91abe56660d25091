fn main() {
    let a: Vec<String> = std::env::args().collect();
    burn_onnx::ModelGen::new().input(&a[1]).out_dir(&a[2]).run_from_cli();
}
