//! The error of the crate.
use crate::ffi;
use std::ffi::{c_char, CStr};
use std::fmt;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

/// Says why a call failed: what is wrong, in which entry, and where in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The stable id, such as `zip.entry.overlap`.
    pub code: &'static str,
    /// The rule of the specification, such as `P3`; empty if none was broken.
    pub rule: &'static str,
    /// The offset in the file, if the error has a place.
    pub offset: Option<u64>,
    /// The name of the entry; empty if the error is not about an entry.
    pub entry: String,
    /// The file; empty if the archive was opened from bytes.
    pub path: PathBuf,
    message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.as_os_str().is_empty() {
            write!(out, "{}: ", self.path.display())?;
        }
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Returns an error that C did not report.
    pub(crate) fn new(code: &'static str, text: impl fmt::Display) -> Self {
        let message = format!("{code}: {text}");
        Error { code, rule: "", offset: None, entry: String::new(), path: PathBuf::new(), message }
    }

    /// Returns the error with the path of the archive.
    pub(crate) fn at(self, path: &Path) -> Self {
        Error { path: path.to_owned(), ..self }
    }

    /// Returns the error for a file that the system cannot open.
    #[cfg(feature = "mmap")]
    pub(crate) fn of_system(error: std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => "io.not_found",
            _ if cfg!(unix) && error.raw_os_error() == Some(20) => "io.not_found", // ENOTDIR; NotADirectory needs 1.83
            std::io::ErrorKind::PermissionDenied => "io.permission",
            _ => "io.failed",
        };
        Error::new(code, error)
    }

    fn of(error: &ffi::onnxar_reader_error) -> Self {
        let mut line = [0 as c_char; ffi::MESSAGE_SIZE];
        let entry: Vec<u8> = error.entry.iter().take(error.entry_length).map(|&byte| byte as u8).collect();
        // SAFETY: the error was filled by a call that failed, its texts are constants, and the line is terminated.
        let (code, rule, message) = unsafe {
            ffi::onnxar_reader_message(error, line.as_mut_ptr(), line.len());
            (CStr::from_ptr(error.code), CStr::from_ptr(error.rule), CStr::from_ptr(line.as_ptr()))
        };
        Error {
            code: code.to_str().unwrap_or(""),
            rule: rule.to_str().unwrap_or(""),
            offset: Some(error.offset).filter(|&offset| offset != ffi::NO_OFFSET),
            entry: String::from_utf8_lossy(&entry).into_owned(),
            path: PathBuf::new(),
            message: message.to_string_lossy().into_owned(),
        }
    }
}

/// Calls C with room for an error. Returns the result of the call, which is not negative.
pub(crate) fn attempt(call: impl FnOnce(*mut ffi::onnxar_reader_error) -> i32) -> Result<i32, Error> {
    let mut error = MaybeUninit::<ffi::onnxar_reader_error>::zeroed();
    match call(error.as_mut_ptr()) {
        // SAFETY: a call that fails fills the error; the bytes that it leaves are zero.
        result if result < 0 => Err(Error::of(unsafe { error.assume_init_ref() })),
        result => Ok(result),
    }
}
