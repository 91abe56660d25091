//! Declares the functions of `onnxar_reader.h` that the crate calls.
#![allow(non_camel_case_types)]
use std::ffi::{c_char, c_int, c_uint, c_void};

pub const NO_OFFSET: u64 = u64::MAX;
pub const NOT_FOUND: usize = usize::MAX;
pub const MESSAGE_SIZE: usize = 1600;
pub const CHECK_DATA: c_uint = 1;

#[repr(C)]
pub struct onnxar_reader {
    _private: [u8; 0],
}

#[repr(C)]
pub struct onnxar_reader_walk {
    _private: [u8; 0],
}

#[repr(C)]
pub struct onnxar_reader_error {
    pub code: *const c_char,
    pub rule: *const c_char,
    pub sentence: *const c_char,
    pub offset: u64,
    pub entry_length: usize,
    pub entry: [c_char; 1025],
    pub location: [c_char; 256],
}

#[repr(C)]
pub struct onnxar_reader_entry {
    pub name: *const c_char,
    pub name_length: usize,
    pub size: u64,
    pub crc32: u32,
}

#[repr(C)]
pub struct onnxar_reader_range {
    pub data: *const c_void,
    pub offset: u64,
    pub size: u64,
}

#[repr(C)]
pub struct onnxar_reader_tensor {
    pub name: *const c_char,
    pub name_length: usize,
    pub dims: *const i64,
    pub rank: usize,
    pub elements: u64,
    pub data_type: i32,
    pub site: c_int,
    pub kind: c_int,
    pub entry: usize,
    pub data: *const c_void,
    pub offset: u64,
    pub size: u64,
    pub values: u64,
    pub field: c_int,
    pub message: *const c_void,
    pub message_size: usize,
    pub graph: usize,
}

extern "C" {
    pub fn onnxar_reader_message(error: *const onnxar_reader_error, buffer: *mut c_char, size: usize) -> *const c_char;
    pub fn onnxar_reader_open_memory(
        data: *const c_void,
        size: usize,
        options: *const c_void,
        archive: *mut *mut onnxar_reader,
        error: *mut onnxar_reader_error,
    ) -> c_int;
    pub fn onnxar_reader_close(archive: *mut onnxar_reader);
    pub fn onnxar_reader_count(archive: *const onnxar_reader) -> usize;
    pub fn onnxar_reader_model(archive: *const onnxar_reader) -> usize;
    pub fn onnxar_reader_get_entry(
        archive: *const onnxar_reader,
        index: usize,
        entry: *mut onnxar_reader_entry,
        error: *mut onnxar_reader_error,
    ) -> c_int;
    pub fn onnxar_reader_find(archive: *const onnxar_reader, name: *const c_char, length: usize) -> usize;
    pub fn onnxar_reader_get_data(
        archive: *const onnxar_reader,
        index: usize,
        range: *mut onnxar_reader_range,
        error: *mut onnxar_reader_error,
    ) -> c_int;
    pub fn onnxar_reader_check(archive: *const onnxar_reader, flags: c_uint, error: *mut onnxar_reader_error) -> c_int;
    pub fn onnxar_reader_walk_open(
        archive: *const onnxar_reader,
        index: usize,
        walk: *mut *mut onnxar_reader_walk,
        error: *mut onnxar_reader_error,
    ) -> c_int;
    pub fn onnxar_reader_walk_close(walk: *mut onnxar_reader_walk);
    pub fn onnxar_reader_walk_next(
        walk: *mut onnxar_reader_walk,
        tensor: *mut onnxar_reader_tensor,
        error: *mut onnxar_reader_error,
    ) -> c_int;
    pub fn onnxar_reader_walk_site(walk: *const onnxar_reader_walk, buffer: *mut c_char, size: usize) -> usize;
    pub fn onnxar_reader_walk_output(walk: *const onnxar_reader_walk, length: *mut usize) -> *const c_char;
}
