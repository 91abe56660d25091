//! Writes an ONNX archive with the crate zip: write [--large] ARCHIVE
use std::fs::File;
use std::io::Write;
use zip::{write::SimpleFileOptions, CompressionMethod::Stored, ZipWriter};

mod wire;

fn add(archive: &mut ZipWriter<File>, name: &str, size: u64, repeated: &[u8]) -> zip::result::ZipResult<()> {
    let options = SimpleFileOptions::default().compression_method(Stored).with_alignment(64);
    archive.start_file(name, options.large_file(size >= u32::MAX as u64))?;
    for done in (0..size).step_by(repeated.len()) {
        archive.write_all(&repeated[..repeated.len().min((size - done) as usize)])?;
    }
    Ok(())
}
fn main() -> zip::result::ZipResult<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let large = words.first().is_some_and(|word| word == "--large");
    if words.len() != if large { 2 } else { 1 } {
        eprintln!("usage: write [--large] ARCHIVE");
        std::process::exit(2);
    }
    let (rows, columns) = if large { ((1 << 20) + 1024, 1024) } else { (64, 32) };
    let floats: Vec<u8> = (0..1 << 18).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut archive = ZipWriter::new(File::create(&words[words.len() - 1])?);
    add(&mut archive, "weight", 4 * rows * columns, &floats)?;
    add(&mut archive, "bias", 4 * 16 * columns, &floats)?;
    let model = wire::model(rows, columns);
    add(&mut archive, "__MODEL_PROTO", model.len() as u64, &model)?;
    archive.finish().map(|_| ())
}
