//! An open archive and its entries.
use crate::error::{attempt, Error};
use crate::ffi;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::{fmt, ptr, slice};

/// An archive whose directory was checked. `'a` is the lifetime of its bytes, `'static` for files.
///
/// Threads may share it. Opening runs stage *open* of the specification; [`Archive::check`] runs all stages, for
/// archives that are not trusted.
pub struct Archive<'a> {
    pub(crate) raw: *mut ffi::onnxar_reader,
    bytes: *const [u8],
    /// The file, which errors name; empty for bytes in memory.
    path: PathBuf,
    /// Keeps `bytes` alive, if they are a mapped file.
    #[cfg(feature = "mmap")]
    _map: Option<memmap2::Mmap>,
    lifetime: PhantomData<&'a [u8]>,
}

// SAFETY: the bytes are only read, and functions that take a const archive may be called by many threads at once.
unsafe impl Send for Archive<'_> {}
unsafe impl Sync for Archive<'_> {}

#[cfg(feature = "mmap")]
impl Archive<'static> {
    /// Maps a file and opens the archive in it.
    ///
    /// While it is open, no process may write to the file or shorten it: replace archives by renaming. A file that is
    /// shortened kills the process with SIGBUS when its bytes are read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::map(path).map_err(|error| error.at(path))
    }

    fn map(path: &Path) -> Result<Self, Error> {
        // Opening a pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(Error::of_system)?.is_file() {
            return Err(Error::new("io.not_a_file", "the path names a folder or a device"));
        }
        let file = std::fs::File::open(path).map_err(Error::of_system)?;
        if file.metadata().map_err(Error::of_system)?.len() == 0 {
            return Self::new(&[], path); // cannot be mapped; the error is that of the format
        }
        // SAFETY: the documentation asks that the file does not change.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(Error::of_system)?;
        let mut archive = Self::new(ptr::from_ref::<[u8]>(&map), path)?;
        archive._map = Some(map);
        Ok(archive)
    }
}

impl<'a> Archive<'a> {
    /// Opens bytes. They should begin at a multiple of 64, so that weights are aligned; see [`include_archive!`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::new(bytes, Path::new(""))
    }

    fn new(bytes: *const [u8], path: &Path) -> Result<Self, Error> {
        let (data, mut raw) = (bytes.cast::<c_void>(), ptr::null_mut());
        // SAFETY: the bytes outlive the archive, and do not change. NULL means the default options.
        attempt(|error| unsafe { ffi::onnxar_reader_open_memory(data, bytes.len(), ptr::null(), &mut raw, error) })?;
        Ok(Archive {
            raw,
            bytes,
            path: path.to_owned(),
            #[cfg(feature = "mmap")]
            _map: None,
            lifetime: PhantomData,
        })
    }

    /// Calls C with room for an error, which gets the path of the archive.
    pub(crate) fn attempt(&self, call: impl FnOnce(*mut ffi::onnxar_reader_error) -> i32) -> Result<i32, Error> {
        attempt(call).map_err(|error| error.at(&self.path))
    }

    /// Returns an error that C did not report, with the path of the archive.
    pub(crate) fn error(&self, code: &'static str, text: impl fmt::Display) -> Error {
        Error::new(code, text).at(&self.path)
    }

    /// Returns all bytes of the archive.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: they are those of the mapping or of the lifetime.
        unsafe { &*self.bytes }
    }

    /// Returns the number of entries, which is never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        // SAFETY: the archive is open.
        unsafe { ffi::onnxar_reader_count(self.raw) }
    }

    /// Returns the index of the model, the last entry.
    pub fn model(&self) -> usize {
        // SAFETY: the archive is open.
        unsafe { ffi::onnxar_reader_model(self.raw) }
    }

    /// Returns the index of the entry with exactly this name: a weight, a side file, or a graph such as
    /// `decoder.onnx`.
    pub fn find(&self, name: &str) -> Option<usize> {
        // SAFETY: the name has this length.
        let index = unsafe { ffi::onnxar_reader_find(self.raw, name.as_ptr().cast(), name.len()) };
        Some(index).filter(|&index| index != ffi::NOT_FOUND)
    }

    pub(crate) fn entry(&self, index: usize) -> Result<ffi::onnxar_reader_entry, Error> {
        let mut entry = MaybeUninit::<ffi::onnxar_reader_entry>::uninit();
        self.attempt(|error| unsafe { ffi::onnxar_reader_get_entry(self.raw, index, entry.as_mut_ptr(), error) })?;
        // SAFETY: a call that succeeds fills the entry.
        Ok(unsafe { entry.assume_init() })
    }

    /// Returns the name of an entry. It is a key and never a path to be opened.
    pub fn name(&self, index: usize) -> Result<&str, Error> {
        let entry = self.entry(index)?;
        // SAFETY: names live as long as the archive.
        let name = unsafe { slice::from_raw_parts(entry.name.cast::<u8>(), entry.name_length) };
        Ok(std::str::from_utf8(name).expect("names are ASCII"))
    }

    /// Returns the names of all entries, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|index| self.name(index).ok())
    }

    /// Returns the bytes of an entry, in place. Checks its local header first.
    pub fn data(&self, index: usize) -> Result<&[u8], Error> {
        let mut range = MaybeUninit::<ffi::onnxar_reader_range>::uninit();
        self.attempt(|error| unsafe { ffi::onnxar_reader_get_data(self.raw, index, range.as_mut_ptr(), error) })?;
        // SAFETY: a call that succeeds fills the range, which is in the archive's memory.
        let range = unsafe { range.assume_init() };
        Ok(unsafe { bytes_at(range.data, range.size) })
    }

    /// Checks all rules of the format except checksums of tensors (M22). With `data`, also compares each CRC-32, which
    /// reads all bytes.
    pub fn check(&self, data: bool) -> Result<(), Error> {
        let flags = if data { ffi::CHECK_DATA } else { 0 };
        // SAFETY: the archive is open.
        self.attempt(|error| unsafe { ffi::onnxar_reader_check(self.raw, flags, error) }).map(drop)
    }

    /// Returns the index of the named graph, or of the model if `name` is `None`.
    pub(crate) fn graph(&self, name: Option<&str>) -> Result<usize, Error> {
        let Some(name) = name else {
            return Ok(self.model());
        };
        let missing = || self.error("usage.no_such_entry", format_args!("the archive has no graph named {name:?}"));
        self.find(&format!("{name}.onnx")).ok_or_else(missing)
    }
}

impl fmt::Debug for Archive<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Archive({} entries)", self.len())
    }
}

impl Drop for Archive<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing that borrows the archive is left.
        unsafe { ffi::onnxar_reader_close(self.raw) }
    }
}

/// # Safety
/// `size` bytes at `data` are valid for `'a`; `data` may be null if there are none.
pub(crate) unsafe fn bytes_at<'a>(data: *const c_void, size: u64) -> &'a [u8] {
    match usize::try_from(size) {
        Ok(size) if !data.is_null() => slice::from_raw_parts(data.cast(), size),
        _ => &[],
    }
}
