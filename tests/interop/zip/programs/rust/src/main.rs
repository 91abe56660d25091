//! What Rust's crate zip reads. The protocol is that of peers.py.
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::panic;

const MOST: u64 = 1 << 20; // bytes of an entry that are read

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn adler32(data: &[u8]) -> u32 {
    let (mut low, mut high) = (1u32, 0u32);
    for byte in data {
        low = (low + u32::from(*byte)) % 65521;
        high = (high + low) % 65521;
    }
    high << 16 | low
}

fn crc32(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

fn read(path: &str) -> Result<String, Box<dyn Error>> {
    let mut archive = zip::ZipArchive::new(BufReader::new(File::open(path)?))?;
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let (name, stated) = (hexadecimal(entry.name_raw()), entry.size());
        let mut data = Vec::new();
        entry.by_ref().take(MOST).read_to_end(&mut data)?;
        let size = data.len();
        let tail = if stated == size as u64 {
            String::new()
        } else {
            format!(",{stated}")
        };
        entries.push(format!(
            "[\"{name}\",{size},\"{:08x}{:08x}\"{tail}]",
            crc32(&data),
            adler32(&data)
        ));
    }
    Ok(format!("{{\"entries\":[{}]}}", entries.join(",")))
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    for path in io::stdin().lock().lines().map_while(Result::ok) {
        let said = match panic::catch_unwind(|| read(&path).map_err(|error| error.to_string())) {
            Ok(Ok(line)) => line,
            Ok(Err(why)) => format!("{{\"refused_hex\":\"{}\"}}", hexadecimal(why.as_bytes())),
            Err(_) => "{\"refused\":\"panic\"}".to_string(),
        };
        println!("{said}");
    }
}
