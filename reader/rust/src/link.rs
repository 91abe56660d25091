//! Links: models whose external data is the archive's file.
use crate::archive::Archive;
use crate::error::Error;
use crate::tensor::{Kind, Tensor, Tensors};
use std::ops::Range;

/// Smaller data is copied into the link (K2).
const SMALLEST_LINKED: usize = 128;
/// The field of ModelProto that has the marker of a link (K4).
const METADATA_PROPS: u64 = 14;
/// Protobuf cannot parse larger models.
const LARGEST_MODEL: usize = i32::MAX as usize;

impl Archive<'_> {
    /// Returns a serialised ModelProto whose external data is the archive's file, for runtimes that do not know
    /// archives (`spec/links.md`). `graph` selects a further graph; `file_name` is the name of the archive's file.
    ///
    /// The runtime has to find the archive under that name in the folder of the model, or in the folder that the
    /// option `session.model_external_initializers_file_folder_path` of ONNX Runtime names.
    pub fn link(&self, graph: Option<&str>, file_name: &str) -> Result<Vec<u8>, Error> {
        let refused = |code, why: &str| self.error(code, format_args!("the file name {file_name:?} {why}"));
        if file_name.is_empty()
            || file_name.starts_with('#')
            || file_name.contains(['/', '\\', '\0'])
            || file_name.contains("..")
        {
            return Err(refused("usage.argument", "cannot be the location of external data; rename the archive"));
        }
        // K8
        if self.names().any(|name| name.eq_ignore_ascii_case(file_name)) {
            return Err(refused("usage.own_name", "is also the name of an entry; rename the archive"));
        }
        let tensors = Tensors::new(self, self.graph(graph)?)?;
        let model = tensors.model();
        let (mut edits, mut size) = (Vec::new(), model.len());
        for tensor in tensors {
            let tensor = tensor?;
            if tensor.kind() != Kind::Linked {
                continue;
            }
            let begin = tensor.message().as_ptr() as usize - model.as_ptr() as usize;
            let message = linked(&tensor, file_name, LARGEST_MODEL - size).ok_or_else(|| {
                let why = "the link would be larger than 2 GiB: too many nodes share the data of an entry";
                self.error("onnx.model.too_large", why)
            })?;
            size = (size + message.len()).min(LARGEST_MODEL);
            edits.push((begin..begin + tensor.message().len(), message));
        }
        let mut out = Vec::with_capacity(size + 512);
        let place = splice(model, 0..model.len(), &edits, true, &mut out);
        let mut marker = Vec::new();
        let number = |value: u32| value.to_string();
        for (key, value) in [
            ("archive", file_name.to_owned()),
            ("size", self.bytes().len().to_string()),
            ("model_crc32", number(self.entry(self.model())?.crc32)),
            ("directory_crc32", number(self.directory_crc32()?)),
        ] {
            put_pair(&mut marker, METADATA_PROPS, &format!("onnxar.link.{key}"), &value);
        }
        out.splice(place..place, marker);
        Ok(out)
    }

    /// Returns the CRC-32 of all directory headers, which follow the model's data. It changes with any entry.
    pub(crate) fn directory_crc32(&self) -> Result<u32, Error> {
        let (bytes, model) = (self.bytes(), self.data(self.model())?);
        let begin = model.as_ptr() as usize + model.len() - bytes.as_ptr() as usize;
        let zip64 = bytes.len() >= begin + 98 && bytes[bytes.len() - 42..].starts_with(b"PK\x06\x07");
        Ok(crc32(&bytes[begin..bytes.len() - if zip64 { 98 } else { 22 }]))
    }
}

/// Returns the TensorProto of a link: with the place of its data in the file, or with the data itself (K1, K2).
/// `None` if it would have more bytes than `room`.
fn linked(tensor: &Tensor<'_>, file_name: &str, room: usize) -> Option<Vec<u8>> {
    // Runtimes look for external data in attributes of Constant nodes only.
    let attribute = tensor.site().rsplit_once(".attribute[").is_some_and(|(_, rest)| !rest.contains("initializer["));
    let data = tensor.data();
    let mut added = Vec::new();
    let inline = data.len() < SMALLEST_LINKED || (attribute && tensor.output().is_none());
    if inline {
        if data.len() + tensor.message().len() > room {
            return None;
        }
        put_bytes(&mut added, 9, data);
    } else {
        for (key, value) in
            [("location", file_name), ("offset", &tensor.offset().to_string()), ("length", &data.len().to_string())]
        {
            put_pair(&mut added, 13, key, value);
        }
        added.extend([14 << 3, 1]);
    }
    // Fields stay in ascending order, and the last data_location counts.
    let (mut out, mut place) = (Vec::with_capacity(tensor.message().len() + added.len()), 0);
    for field in Fields(tensor.message(), 0) {
        // Of a number, the low 32 bits count, as in protobuf.
        let is_default = (field.number, field.kind, field.value as u32) == (14, 0, 0);
        let is_external = (field.number, field.kind, field.value as u32) == (14, 0, 1);
        let is_data = field.kind == 2 && matches!(field.number, 4 | 5 | 7 | 9 | 10 | 11 | 13);
        if is_external || is_data {
            continue;
        }
        out.extend_from_slice(&tensor.message()[field.whole]);
        if field.number < if inline { 9 } else { 13 } || (is_default && !inline) {
            place = out.len();
        }
    }
    out.splice(place..place, added);
    Some(out)
}

/// Copies a message, with each edited message in it replaced. Edits are in ascending order, and none is in another.
/// Returns the place after the last field up to `metadata_props`.
fn splice(
    model: &[u8],
    message: Range<usize>,
    edits: &[(Range<usize>, Vec<u8>)],
    is_model: bool,
    out: &mut Vec<u8>,
) -> usize {
    let (mut edits, mut place) = (edits, 0);
    for field in Fields(&model[..message.end], message.start) {
        let (number, is_early) = (field.number, field.number <= METADATA_PROPS);
        let inner = edits.partition_point(|(range, _)| range.start < field.whole.end);
        let (inside, rest) = edits.split_at(inner);
        edits = rest;
        let is_metadata = is_model && number == METADATA_PROPS && field.kind == 2;
        if inside.is_empty() && !(is_metadata && is_dropped(&model[field.body.clone()])) {
            out.extend_from_slice(&model[field.whole]);
        } else if !inside.is_empty() {
            let mut body = Vec::new();
            match inside {
                [(range, bytes)] if *range == field.body => body.extend_from_slice(bytes),
                _ => {
                    splice(model, field.body, inside, false, &mut body);
                }
            }
            put_bytes(out, number, &body);
        }
        if is_early {
            place = out.len();
        }
    }
    place
}

/// True if a pair of the model's metadata is about the archive, or about an older link.
fn is_dropped(pair: &[u8]) -> bool {
    let key = Fields(pair, 0).filter(|field| field.number == 1 && field.kind == 2).last();
    key.is_some_and(|field| {
        pair[field.body.clone()].starts_with(b"onnxar.link.") || &pair[field.body] == b"onnxar.model.name"
    })
}

/// A field of a message, as ranges of its bytes.
struct Field {
    number: u64,
    kind: u64,
    value: u64,
    whole: Range<usize>,
    body: Range<usize>,
}

/// The fields of a message that C has walked through; ends at bytes that are not a field.
struct Fields<'a>(&'a [u8], usize);

impl Fields<'_> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = *self.0.get(self.1)?;
            self.1 += 1;
            value |= u64::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }
}

impl Iterator for Fields<'_> {
    type Item = Field;

    fn next(&mut self) -> Option<Field> {
        let begin = self.1;
        let tag = self.varint()?;
        let kind = tag & 7;
        let value = if matches!(kind, 0 | 2) { self.varint()? } else { 0 };
        let length = match kind {
            0 => 0,
            1 => 8,
            2 => usize::try_from(value).ok()?,
            5 => 4,
            _ => return None,
        };
        let body = self.1..self.1.checked_add(length).filter(|&end| end <= self.0.len())?;
        self.1 = body.end;
        Some(Field { number: tag >> 3, kind, value, whole: begin..body.end, body })
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_bytes(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put_varint(out, number << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a StringStringEntryProto.
fn put_pair(out: &mut Vec<u8>, number: u64, key: &str, value: &str) {
    let mut pair = Vec::new();
    put_bytes(&mut pair, 1, key.as_bytes());
    put_bytes(&mut pair, 2, value.as_bytes());
    put_bytes(out, number, &pair);
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ ((crc & 1) * 0xEDB8_8320)))
}
