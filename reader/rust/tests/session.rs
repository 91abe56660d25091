//! Sessions of ONNX Runtime, whose library ORT_DYLIB_PATH names. ONNXAR_MODEL is an archive with input x and output y.
use onnxar::{onnxruntime, Archive};
use ort::environment::Environment;
use ort::session::{builder::SessionBuilder, Session};
use ort::value::Tensor;
use std::sync::OnceLock;

fn builder() -> SessionBuilder {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new(); // a process has one
    Session::builder(ENVIRONMENT.get_or_init(|| ort::init().build().unwrap())).unwrap()
}

fn run(mut session: Session) -> Vec<f32> {
    let x = Tensor::from_array(([1_i64, 64], vec![1_f32; 64])).unwrap();
    let outputs = session.run(ort::inputs!["x" => x]).unwrap();
    outputs["y"].try_extract_tensor::<f32>().unwrap().1.to_vec()
}

#[test]
fn files_and_memory_give_the_same_results() {
    let Some(path) = std::env::var_os("ONNXAR_MODEL") else { return };
    let from_file = run(onnxruntime::session(builder(), &path, None).unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let archive = Archive::from_bytes(&bytes).unwrap();
    let from_memory = run(onnxruntime::session_from_memory(builder(), &archive, None).unwrap());
    assert_eq!(from_file, from_memory);
    assert!(from_file.iter().any(|&value| value != 0.0));
}

#[test]
fn missing_graphs_are_named() {
    let Some(path) = std::env::var_os("ONNXAR_MODEL") else { return };
    let error = onnxruntime::session(builder(), "/no/such/file", None).err().unwrap();
    assert!(error.to_string().contains("io.not_found"), "{error}");
    let error = onnxruntime::session(builder(), &path, Some("none")).err().unwrap();
    assert!(error.to_string().contains("usage.no_such_entry"), "{error}");
}
