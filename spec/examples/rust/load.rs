//! Prints the weights of an ONNX archive with the crate zip: load ARCHIVE
use container::{entries, need, read, Maybe};
use std::collections::HashMap;
use std::fs::File;
use wire::{tensors, Tensor};

mod container;
mod wire;

const BITS: [u64; 27] = [0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2];

fn decimal(text: &str) -> Maybe<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    need(plain, "a bad number")?;
    Ok(text.parse()?)
}
/// Where the data of a linked tensor is in the file.
fn place(tensor: &Tensor, entries: &HashMap<String, (u64, u64)>) -> Maybe<(u64, u64)> {
    let mut link = HashMap::new();
    for (key, value) in &tensor.link {
        let again = link.insert(key.as_str(), value.as_str()).is_some();
        need(!again || !["location", "offset", "length", "checksum"].contains(&key.as_str()), "a key is given twice")?;
    }
    let (dims, bits) = (&tensor.dims, *BITS.get(tensor.kind as usize).unwrap_or(&0));
    need(bits > 0 && dims.len() <= 1024 && dims.iter().all(|dim| *dim < 1 << 63), "a bad type or shape")?;
    let elements = if dims.contains(&0) { Some(0) } else { dims.iter().try_fold(1, |a: u64, b| a.checked_mul(*b)) };
    let size = (elements.ok_or("too many elements")? as u128 * bits as u128).div_ceil(8);
    let offset = link.get("offset").map_or(Ok(0), |text| decimal(text))?;
    let length = link.get("length").map_or(Ok(size as u64), |text| decimal(text))?;
    let (begin, room) = link.get("location").and_then(|name| entries.get(*name)).ok_or("there is not such an entry")?;
    need(length as u128 == size && offset <= *room && length <= room - offset, "bad offset or length")?;
    Ok((begin + offset, length))
}
fn load(path: &str) -> Maybe<()> {
    let file = File::open(path)?;
    let entries = entries(&file)?;
    let (begin, size) = entries.get("__MODEL_PROTO").ok_or("there is not a model")?;
    for tensor in tensors(&read(&file, *begin, *size)?)?.iter().filter(|tensor| tensor.linked) {
        let (begin, size) = place(tensor, &entries)?;
        let mut crc = crc32fast::Hasher::new();
        for done in (0..size).step_by(1 << 20) {
            crc.update(&read(&file, begin + done, (size - done).min(1 << 20))?);
        }
        let shape: Vec<String> = tensor.dims.iter().map(u64::to_string).collect();
        println!("{} {} {} {:08x}", tensor.name, tensor.kind, shape.join(","), crc.finalize());
    }
    Ok(())
}
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path] = &words[..] else {
        eprintln!("usage: load ARCHIVE");
        std::process::exit(2);
    };
    if let Err(error) = load(path) {
        eprintln!("load: {error}");
        std::process::exit(1);
    }
}
