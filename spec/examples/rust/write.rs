//! Writes an ONNX archive with the crate zip: write [--large] ARCHIVE
use std::fs::File;
use std::io::Write;
use zip::{write::SimpleFileOptions, CompressionMethod::Stored, ZipWriter};

fn varint(value: u64) -> Vec<u8> {
    if value < 128 {
        return vec![value as u8];
    }
    [vec![value as u8 | 128], varint(value >> 7)].concat()
}
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}
fn text(field: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let size = value.as_ref().len() as u64;
    [varint(field << 3 | 2), varint(size), value.as_ref().to_vec()].concat()
}
fn pair(key: &str, value: impl ToString) -> Vec<u8> {
    text(13, [text(1, key), text(2, value.to_string())].concat())
}
fn linked(name: &str, rows: u64, columns: u64) -> Vec<u8> {
    let link = [pair("location", name), pair("offset", 0), pair("length", 4 * rows * columns)].concat();
    text(5, [number(1, rows), number(1, columns), number(2, 1), text(8, name), link, number(14, 1)].concat())
}
fn value(field: u64, name: &str, columns: u64) -> Vec<u8> {
    let shape = [text(1, number(1, 16)), text(1, number(1, columns))].concat();
    text(field, [text(1, name), text(2, text(1, [number(1, 1), text(2, shape)].concat()))].concat())
}
fn node(left: &str, right: &str, out: &str, kind: &str) -> Vec<u8> {
    text(1, [text(1, left), text(1, right), text(2, out), text(4, kind)].concat())
}
fn model(rows: u64, columns: u64) -> Vec<u8> {
    let nodes = [node("x", "weight", "xw", "MatMul"), node("xw", "bias", "y", "Add"), text(2, "example")].concat();
    let weights = [linked("weight", rows, columns), linked("bias", 16, columns)].concat();
    let graph = [nodes, weights, value(11, "x", rows), value(12, "y", columns)].concat();
    [number(1, 8), text(7, graph), text(8, [text(1, ""), number(2, 13)].concat())].concat()
}
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
    let (rows, columns) = if words[0] == "--large" { ((1 << 20) + 1024, 1024) } else { (64, 32) };
    let floats: Vec<u8> = (0..1 << 18).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut archive = ZipWriter::new(File::create(words.last().unwrap())?);
    add(&mut archive, "weight", 4 * rows * columns, &floats)?;
    add(&mut archive, "bias", 4 * 16 * columns, &floats)?;
    let model = model(rows, columns);
    add(&mut archive, "__MODEL_PROTO", model.len() as u64, &model)?;
    archive.finish().map(|_| ())
}
