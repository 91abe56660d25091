//! burn's importer: run JOBS. A file of jobs is described in runners/worker.py. What it says of a model is a hash of the code that
//! it generates, and one of the weights; burn itself would have to compile that code.
use burn_onnx::ModelGen;
use std::fs;
use std::path::Path;

#[path = "../../jobs.rs"]
mod jobs;

/// FNV-1a, in four parts that float32 can hold.
fn hash(bytes: &[u8]) -> Vec<f32> {
    let all = bytes.iter().fold(0xcbf29ce484222325u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100000001b3));
    (0..4).map(|part| f32::from((all >> (16 * part)) as u16)).collect()
}

/// The code without the paths and names of this file.
fn code(text: &str, stem: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("// Generated from ONNX"));
    lines.collect::<Vec<_>>().join("\n").replace(&format!("{stem}.bpk"), "model.bpk")
}

fn run(model: &str) -> Result<(Vec<usize>, Vec<f32>), Box<dyn std::error::Error>> {
    let folder = std::env::current_exe()?.with_file_name("imported");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    ModelGen::new().input(model).out_dir(folder.to_str().ok_or("the path is not UTF-8")?).run_from_cli();
    let stem = Path::new(model).file_stem().and_then(|stem| stem.to_str()).ok_or("the path is not UTF-8")?;
    let text = fs::read_to_string(folder.join(format!("{stem}.rs")))?;
    let weights = fs::read(folder.join(format!("{stem}.bpk")))?;
    Ok((vec![2, 4], [hash(code(&text, stem).as_bytes()), hash(&weights)].concat()))
}

fn main() {
    jobs::each(|model, _, _| run(model).map_err(|error| error.to_string()));
}
