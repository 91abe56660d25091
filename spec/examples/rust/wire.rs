//! As much of protobuf as a ModelProto with linked weights needs; other programs have it from a library.
#![allow(dead_code)] // each program needs one half

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
/// y = x * weight + bias, with both weights linked to entries of their names.
pub fn model(rows: u64, columns: u64) -> Vec<u8> {
    let nodes = [node("x", "weight", "xw", "MatMul"), node("xw", "bias", "y", "Add"), text(2, "example")].concat();
    let weights = [linked("weight", rows, columns), linked("bias", 16, columns)].concat();
    let graph = [nodes, weights, value(11, "x", rows), value(12, "y", columns)].concat();
    [number(1, 8), text(7, graph), text(8, [text(1, ""), number(2, 13)].concat())].concat()
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}
fn next(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or("a number is cut off")?;
        *bytes = rest;
        value |= (*first as u64 & 127).checked_shl(shift).unwrap_or(0);
        if *first < 128 {
            return Ok(value);
        }
    }
    Err("a number is too long".into())
}
/// The fields of a message, except those of 4 and 8 bytes.
fn fields(mut message: &[u8]) -> Result<Vec<(u64, Value<'_>)>, String> {
    let mut found = vec![];
    while !message.is_empty() {
        let tag = next(&mut message)?;
        let size = match tag & 7 {
            0 => {
                found.push((tag >> 3, Value::Number(next(&mut message)?)));
                continue;
            }
            1 => 8,
            2 => next(&mut message)?,
            5 => 4,
            _ => return Err("a group".into()),
        };
        let (value, rest) = message.split_at_checked(size as usize).ok_or("a field is cut off")?;
        if tag & 7 == 2 {
            found.push((tag >> 3, Value::Bytes(value)));
        }
        message = rest;
    }
    Ok(found)
}
fn bytes<'a>(message: &[(u64, Value<'a>)], field: u64) -> Vec<&'a [u8]> {
    message
        .iter()
        .filter_map(|(id, value)| match value {
            Value::Bytes(bytes) if *id == field => Some(*bytes),
            _ => None,
        })
        .collect()
}
/// Numbers of a field that is not repeated.
fn scalars(message: &[(u64, Value)], field: u64) -> Vec<u64> {
    message
        .iter()
        .filter_map(|(id, value)| match value {
            Value::Number(number) if *id == field => Some(*number),
            _ => None,
        })
        .collect()
}
/// Numbers of a repeated field, packed or not.
fn repeated(message: &[(u64, Value)], field: u64) -> Result<Vec<u64>, String> {
    let mut found = vec![];
    for (_, value) in message.iter().filter(|(id, _)| *id == field) {
        match value {
            Value::Number(number) => found.push(*number),
            Value::Bytes(bytes) => {
                let mut rest = *bytes;
                while !rest.is_empty() {
                    found.push(next(&mut rest)?);
                }
            }
        }
    }
    Ok(found)
}
/// The last string of a field, or an empty one.
fn last(message: &[(u64, Value)], field: u64) -> String {
    String::from_utf8_lossy(bytes(message, field).last().unwrap_or(&&[][..])).into_owned()
}

pub struct Tensor {
    pub name: String,
    pub kind: u64,
    pub dims: Vec<u64>,
    pub linked: bool,
    pub link: Vec<(String, String)>,
}
fn tensor(message: &[u8]) -> Result<Tensor, String> {
    let tensor = fields(message)?;
    let places = scalars(&tensor, 14);
    let mut link = vec![];
    for pair in bytes(&tensor, 13) {
        let pair = fields(pair)?;
        link.push((last(&pair, 1), last(&pair, 2)));
    }
    Ok(Tensor {
        name: last(&tensor, 8),
        kind: scalars(&tensor, 2).last().unwrap_or(&0) & 0xFFFFFFFF,
        dims: repeated(&tensor, 1)?,
        linked: places.iter().rfind(|place| **place as u32 <= 1).is_some_and(|place| *place as u32 == 1),
        link,
    })
}
/// The initializers of a model.
pub fn tensors(model: &[u8]) -> Result<Vec<Tensor>, String> {
    let model = fields(model)?;
    let graph = fields(bytes(&model, 7).last().ok_or("there is not a graph")?)?;
    bytes(&graph, 5).into_iter().map(tensor).collect()
}
