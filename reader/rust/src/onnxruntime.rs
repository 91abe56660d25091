//! Sessions of ONNX Runtime, with the crate [`ort`](::ort).
//!
//! ```no_run
//! let environment = ort::init().build()?;
//! let session = onnxar::onnxruntime::session(ort::session::Session::builder(&environment)?, "model.onnxar", None)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::archive::Archive;
use crate::error::Error;
use ::ort::session::{builder::SessionBuilder, Session};
use std::path::Path;
use std::sync::Arc;

/// Says why no session was made.
#[derive(Debug)]
pub enum SessionError {
    /// The archive has a fault.
    Archive(Error),
    /// ONNX Runtime refused the model.
    Runtime(::ort::Error),
}

impl std::fmt::Display for SessionError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SessionError::Archive(error) => error.fmt(out),
            SessionError::Runtime(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<Error> for SessionError {
    fn from(error: Error) -> Self {
        SessionError::Archive(error)
    }
}

fn runtime<T>(error: ::ort::Error<T>) -> SessionError {
    SessionError::Runtime(::ort::Error::new(error.to_string()))
}

/// Makes a session from a file, whose weights ONNX Runtime maps. `graph` selects a further graph, such as `decoder`.
///
/// Needs ONNX Runtime 1.22 or later. Fails with `onnx.link.stale` if the file is replaced during the call.
pub fn session(builder: SessionBuilder, path: impl AsRef<Path>, graph: Option<&str>) -> Result<Session, SessionError> {
    let named = path.as_ref();
    let path = named.canonicalize().map_err(|error| Error::of_system(error).at(named))?;
    let (Some(folder), Some(name)) =
        (path.parent().and_then(Path::to_str), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(Error::new("usage.argument", "the path of the archive is not UTF-8").at(&path).into());
    };
    let archive = Archive::open(&path)?;
    let link = archive.link(graph, name)?;
    let key = "session.model_external_initializers_file_folder_path";
    let mut builder = builder.with_config_entry(key, folder).map_err(runtime)?;
    let session = builder.commit_from_memory(&link).map_err(runtime)?;
    // ONNX Runtime opened the file by its path. The directory has the CRC-32 of every entry.
    let now = Archive::open(&path)?;
    if (now.bytes().len(), now.directory_crc32()?) != (archive.bytes().len(), archive.directory_crc32()?) {
        return Err(archive
            .error("onnx.link.stale", "the archive was replaced while the session was made; try again")
            .into());
    }
    Ok(session)
}

/// Makes a session from an archive in memory, whose bytes are copied once.
pub fn session_from_memory(
    builder: SessionBuilder,
    archive: &Archive<'_>,
    graph: Option<&str>,
) -> Result<Session, SessionError> {
    const NAME: &str = "onnxar:memory"; // no entry has this name, because of the colon
    let link = archive.link(graph, NAME)?;
    let bytes: Arc<[u8]> = archive.bytes().into();
    let mut builder = builder.with_external_initializer_file_in_memory(NAME, bytes).map_err(runtime)?;
    builder.commit_from_memory(&link).map_err(runtime)
}
