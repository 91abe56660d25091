//! What a loader proves and the crate zip does not, after ../../loading.md.
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use zip::{CompressionMethod::Stored, ZipArchive};

pub type Maybe<T> = Result<T, Box<dyn Error>>;
const FULL: u64 = 0xFFFFFFFF;

pub fn need(ok: bool, what: &str) -> Maybe<()> {
    if ok {
        Ok(())
    } else {
        Err(what.into())
    }
}
/// A number of so many bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Maybe<u64> {
    let bytes = bytes.get(at..at + size).ok_or("a record is cut off")?;
    Ok(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | *byte as u64))
}
pub fn read(file: &File, at: u64, size: u64) -> Maybe<Vec<u8>> {
    let length = file.metadata()?.len();
    need(at <= length && size <= length - at, "something lies beyond the file")?;
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}
/// Number of entries, size and offset; the crate searches for them, but they have one place.
fn directory(file: &File) -> Maybe<[u64; 3]> {
    let length = file.metadata()?.len();
    let end = read(file, length.checked_sub(22).ok_or("too short")?, 22)?;
    need(number(&end, 0, 4)? == 0x06054B50 && number(&end, 20, 2)? == 0, "there is not an end record at the end")?;
    let zip64 = length >= 98 && number(&read(file, length - 42, 20)?, 0, 4)? == 0x07064B50;
    let at = length - if zip64 { 98 } else { 22 };
    let short = [number(&end, 10, 2)?, number(&end, 12, 4)?, number(&end, 16, 4)?];
    let mut found = short;
    if zip64 {
        let record = read(file, at, 76)?;
        found = [number(&record, 32, 8)?, number(&record, 40, 8)?, number(&record, 48, 8)?];
        let head = number(&record, 0, 4)? == 0x06064B50 && number(&record, 4, 8)? == 44;
        let version = (10..=45).contains(&number(&record, 14, 2)?);
        need(head && version && number(&record, 64, 8)? == at, "bad zip64 end records")?;
    }
    for (i, full) in [0xFFFF, FULL, FULL].into_iter().enumerate() {
        let same = if short[i] == full { zip64 } else { short[i] == found[i] };
        need(same, "the end records disagree")?;
    }
    need(found[1].checked_add(found[2]) == Some(at), "the directory is somewhere else")?;
    need(found[0] > 0 && found[0] <= found[1] / 46, "a number of entries that cannot be")?;
    Ok(found)
}
fn extras(mut extra: &[u8]) -> Maybe<HashMap<u64, &[u8]>> {
    let mut found = HashMap::new();
    while !extra.is_empty() {
        let size = 4 + number(extra, 2, 2)? as usize;
        let field = extra.get(4..size).ok_or("extra fields do not fit")?;
        need(found.insert(number(extra, 0, 2)?, field).is_none(), "an extra field is there twice")?;
        extra = &extra[size..];
    }
    Ok(found)
}
fn good_name(name: &[u8]) -> bool {
    let allowed = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\\:*?\"<>|;".contains(byte);
    let reserved = name.starts_with(b"__") && name.get(2).is_some_and(u8::is_ascii_uppercase);
    !name.is_empty() && name.iter().all(allowed) && (!reserved || name == b"__MODEL_PROTO")
}
/// Offset and size of each entry's data.
pub fn entries(file: &File) -> Maybe<HashMap<String, (u64, u64)>> {
    let [count, size, offset] = directory(file)?;
    let headers = read(file, offset, size)?;
    let (mut at, mut seen) = (0, 0);
    while at < headers.len() {
        let name = at + 46 + number(&headers, at + 28, 2)? as usize;
        let extra = name + number(&headers, at + 30, 2)? as usize;
        let fields = extras(headers.get(name..extra).ok_or("a directory header is cut off")?)?;
        need(number(&headers, at, 4)? == 0x02014B50, "a directory header is missing")?;
        need(fields.keys().all(|id| [1, 0xA11E].contains(id)), "an extra field that is not known")?;
        (at, seen) = (extra + number(&headers, at + 32, 2)? as usize, seen + 1);
    }
    let archive = ZipArchive::new(file)?;
    need(at == headers.len() && seen == count && archive.len() as u64 == count, "another number of entries")?;
    let mut found = HashMap::new();
    for i in 0..archive.len() {
        let entry = archive.by_index_data(i)?;
        let (at, size, name) = (entry.header_start(), entry.size(), entry.name_raw());
        let end = if i + 1 < archive.len() { archive.by_index_data(i + 1)?.header_start() } else { offset };
        let plain = entry.flags().as_u16() & 0x2049 == 0 && entry.compression() == Stored;
        need(plain && size == entry.compressed_size() && good_name(name), "a bad name, or not plainly stored")?;
        let header = read(file, at, 30)?;
        let (name_size, extra_size) = (number(&header, 26, 2)?, number(&header, 28, 2)?);
        let (rest, begin) = (read(file, at + 30, name_size + extra_size)?, at + 30 + name_size + extra_size);
        need(number(&header, 0, 4)? == 0x04034B50 && &rest[..name_size as usize] == name, "bad local header")?;
        let long = extras(&rest[name_size as usize..])?.remove(&1);
        for short in [number(&header, 18, 4)?, number(&header, 22, 4)?] {
            need(if short == FULL { long.is_some() } else { short == size }, "another size")?;
        }
        if let Some(long) = long {
            need(long == [size.to_le_bytes(), size.to_le_bytes()].concat(), "another size")?;
        }
        need((i > 0 || at == 0) && begin <= end && size <= end - begin, "an entry at a bad place")?;
        found.insert(String::from_utf8(name.to_vec())?, (begin, size));
    }
    Ok(found)
}
