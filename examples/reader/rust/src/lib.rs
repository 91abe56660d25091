//! Reads ONNX archives. A safe wrapper of `onnxar_reader.c`: lifetimes say how long weights are valid.
//!
//! ```no_run
//! let archive = onnxar_reader::Archive::open("model.onnxar")?;
//! let mut walk = archive.walk(archive.model())?;
//! while let Some(tensor) = walk.next()? {
//!     println!("{} {:?}: {} bytes", tensor.name(), tensor.dims(), tensor.data().len());
//! }
//! # Ok::<(), onnxar_reader::Error>(())
//! ```

mod ffi;

use std::borrow::Cow;
use std::ffi::{c_char, c_void, CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::slice;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The stable id, such as `zip.entry.overlap`.
    pub code: &'static str,
    /// The rule of the specification, such as `P3`, or nothing.
    pub rule: &'static str,
    /// The offset in the file.
    pub offset: Option<u64>,
    message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    fn of(error: &ffi::onnxar_reader_error) -> Self {
        let mut line = [0 as c_char; ffi::MESSAGE_SIZE];
        // SAFETY: the error was filled by a call that failed, its texts are constants, and the line is terminated.
        unsafe {
            ffi::onnxar_reader_message(error, line.as_mut_ptr(), line.len());
            Error {
                code: CStr::from_ptr(error.code).to_str().unwrap_or(""),
                rule: CStr::from_ptr(error.rule).to_str().unwrap_or(""),
                offset: Some(error.offset).filter(|&offset| offset != ffi::NO_OFFSET),
                message: CStr::from_ptr(line.as_ptr()).to_string_lossy().into_owned(),
            }
        }
    }

    /// A path that C cannot have.
    fn of_path() -> Self {
        Error { code: "usage.argument", rule: "", offset: None, message: "the path holds a zero byte".into() }
    }
}

/// Calls C with room for an error.
fn attempt(call: impl FnOnce(*mut ffi::onnxar_reader_error) -> i32) -> Result<i32, Error> {
    let mut error = MaybeUninit::<ffi::onnxar_reader_error>::uninit();
    match call(error.as_mut_ptr()) {
        // SAFETY: a call that fails fills the error.
        result if result < 0 => Err(Error::of(unsafe { error.assume_init_ref() })),
        result => Ok(result),
    }
}

/// An archive whose directory was proved. `'a` is the lifetime of its bytes, if they are in memory.
pub struct Archive<'a> {
    raw: *mut ffi::onnxar_reader,
    bytes: PhantomData<&'a [u8]>,
}

// SAFETY: functions that take a const archive may be called by many threads at once.
unsafe impl Send for Archive<'_> {}
unsafe impl Sync for Archive<'_> {}

impl Archive<'static> {
    /// Maps a file. While it is open, no process may shorten it: replace archives by renaming.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = CString::new(path.as_ref().as_os_str().as_encoded_bytes()).map_err(|_| Error::of_path())?;
        let mut raw = ptr::null_mut();
        // SAFETY: the path is terminated, and no options are given.
        attempt(|error| unsafe { ffi::onnxar_reader_open(path.as_ptr(), ptr::null(), &mut raw, error) })?;
        Ok(Archive { raw, bytes: PhantomData })
    }
}

impl<'a> Archive<'a> {
    /// Opens bytes, which should begin at a multiple of 64.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (data, mut raw) = (bytes.as_ptr().cast::<c_void>(), ptr::null_mut());
        // SAFETY: the bytes outlive the archive, and do not change.
        attempt(|error| unsafe {
            ffi::onnxar_reader_open_memory(data, bytes.len(), ptr::null(), &mut raw, error)
        })?;
        Ok(Archive { raw, bytes: PhantomData })
    }

    pub fn len(&self) -> usize {
        // SAFETY: the archive is open.
        unsafe { ffi::onnxar_reader_count(self.raw) }
    }

    /// Never: an archive has a model.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The index of the model, which is the last entry.
    pub fn model(&self) -> usize {
        // SAFETY: the archive is open.
        unsafe { ffi::onnxar_reader_model(self.raw) }
    }

    /// The index of an entry; `decoder.onnx` is a further model.
    pub fn find(&self, name: &str) -> Option<usize> {
        // SAFETY: the name has this length.
        let index = unsafe { ffi::onnxar_reader_find(self.raw, name.as_ptr().cast(), name.len()) };
        Some(index).filter(|&index| index != ffi::NOT_FOUND)
    }

    pub fn name(&self, index: usize) -> Result<&str, Error> {
        let mut entry = MaybeUninit::<ffi::onnxar_reader_entry>::uninit();
        // SAFETY: a call that succeeds fills the entry. Names are ASCII, and live as long as the archive.
        attempt(|error| unsafe { ffi::onnxar_reader_get_entry(self.raw, index, entry.as_mut_ptr(), error) })?;
        let name = unsafe {
            let entry = entry.assume_init_ref();
            slice::from_raw_parts(entry.name.cast::<u8>(), entry.name_length)
        };
        Ok(std::str::from_utf8(name).unwrap_or(""))
    }

    /// The bytes of an entry, whose local header is proved first.
    pub fn data(&self, index: usize) -> Result<&[u8], Error> {
        let mut range = MaybeUninit::<ffi::onnxar_reader_range>::uninit();
        // SAFETY: a call that succeeds fills the range, which lies in the file. The file is in memory.
        attempt(|error| unsafe { ffi::onnxar_reader_get_data(self.raw, index, range.as_mut_ptr(), error) })?;
        let range = unsafe { range.assume_init() };
        Ok(unsafe { bytes_at(range.data, range.size) })
    }

    /// All rules of the format; with `data`, also each CRC-32, which reads all bytes.
    pub fn check(&self, data: bool) -> Result<(), Error> {
        let flags = if data { ffi::CHECK_DATA } else { 0 };
        // SAFETY: the archive is open.
        attempt(|error| unsafe { ffi::onnxar_reader_check(self.raw, flags, error) }).map(drop)
    }

    /// Begins a walk through the tensors of the model, or of a further graph.
    pub fn walk(&self, index: usize) -> Result<Walk<'_>, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: the archive outlives the walk.
        attempt(|error| unsafe { ffi::onnxar_reader_walk_open(self.raw, index, &mut raw, error) })?;
        Ok(Walk { raw, archive: PhantomData })
    }
}

impl Drop for Archive<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing that borrows the archive is left.
        unsafe { ffi::onnxar_reader_close(self.raw) }
    }
}

/// A walk through the tensors of a model, in their order.
pub struct Walk<'a> {
    raw: *mut ffi::onnxar_reader_walk,
    archive: PhantomData<&'a Archive<'a>>,
}

// SAFETY: a walk is used by one thread at a time.
unsafe impl Send for Walk<'_> {}

impl<'a> Walk<'a> {
    /// The next tensor, whose rules are proved; `None` at the end. Not an Iterator, because a tensor borrows the walk.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Tensor<'a, '_>>, Error> {
        let mut tensor = MaybeUninit::<ffi::onnxar_reader_tensor>::uninit();
        // SAFETY: a result of 1 says that the tensor is filled.
        let more = attempt(|error| unsafe { ffi::onnxar_reader_walk_next(self.raw, tensor.as_mut_ptr(), error) })?;
        Ok((more == 1).then(|| Tensor { raw: unsafe { tensor.assume_init() }, walk: self, archive: PhantomData }))
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing that borrows the walk is left.
        unsafe { ffi::onnxar_reader_walk_close(self.raw) }
    }
}

/// Where the values of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nowhere: it has no elements, or is filled in later.
    None,
    /// In `raw_data` of the model.
    Inline,
    /// In an entry.
    Linked,
    /// In a typed field of the model.
    Typed,
}

/// A tensor of a walk: valid until the next one. Its data lives as long as the archive.
pub struct Tensor<'a, 'w> {
    raw: ffi::onnxar_reader_tensor,
    walk: &'w Walk<'a>,
    archive: PhantomData<&'a [u8]>,
}

impl<'a> Tensor<'a, '_> {
    pub fn name(&self) -> Cow<'_, str> {
        // SAFETY: the name has this length, and is valid as long as the walk.
        String::from_utf8_lossy(unsafe { slice::from_raw_parts(self.raw.name.cast::<u8>(), self.raw.name_length) })
    }

    /// Where it is in the model: `graph.initializer[3]`.
    pub fn site(&self) -> String {
        let mut site = vec![0_u8; 1 + unsafe { ffi::onnxar_reader_walk_site(self.walk.raw, ptr::null_mut(), 0) }];
        // SAFETY: the buffer has this size.
        unsafe { ffi::onnxar_reader_walk_site(self.walk.raw, site.as_mut_ptr().cast(), site.len()) };
        site.pop();
        String::from_utf8_lossy(&site).into_owned()
    }

    /// The number of its graph: 0 for the main graph. Subgraphs and functions may use the same names again.
    pub fn graph(&self) -> usize {
        self.raw.graph
    }

    /// The output of the Constant node whose value it is, by which nodes refer to it.
    pub fn output(&self) -> Option<Cow<'_, str>> {
        let mut length = 0;
        // SAFETY: the walk stands at this tensor, and the name is valid as long as the walk.
        let name = unsafe { ffi::onnxar_reader_walk_output(self.walk.raw, &mut length) };
        // SAFETY: as above.
        (!name.is_null()).then(|| String::from_utf8_lossy(unsafe { slice::from_raw_parts(name.cast::<u8>(), length) }))
    }

    /// TensorProto.DataType.
    pub fn data_type(&self) -> i32 {
        self.raw.data_type
    }

    pub fn dims(&self) -> &[i64] {
        // SAFETY: valid until the next tensor, and so many.
        unsafe { slice::from_raw_parts(self.raw.dims, self.raw.rank) }
    }

    pub fn kind(&self) -> Kind {
        match self.raw.kind {
            1 => Kind::Inline,
            2 => Kind::Linked,
            3 => Kind::Typed,
            _ => Kind::None,
        }
    }

    /// The bytes of a linked tensor, in place; of an inline one, in the model. Little-endian, as in `raw_data`.
    pub fn data(&self) -> &'a [u8] {
        // SAFETY: the bytes lie in the file, which is in memory as long as the archive.
        unsafe { bytes_at(self.raw.data, self.raw.size) }
    }

    /// The data as FLOATs, if it is aligned as they have to be, on a little-endian machine.
    pub fn floats(&self) -> Option<&'a [f32]> {
        const FLOAT: i32 = 1;
        // SAFETY: any bytes are f32s.
        let (before, floats, after) = unsafe { self.data().align_to::<f32>() };
        let fits = before.is_empty() && after.is_empty() && cfg!(target_endian = "little");
        (fits && self.data_type() == FLOAT && self.kind() == Kind::Linked).then_some(floats)
    }
}

/// # Safety
/// `size` bytes at `data` are valid for `'a`; `data` may be null if there are none.
unsafe fn bytes_at<'a>(data: *const c_void, size: u64) -> &'a [u8] {
    match usize::try_from(size) {
        Ok(size) if !data.is_null() => slice::from_raw_parts(data.cast(), size),
        _ => &[],
    }
}
