//! Reads [ONNX archives](https://crates.io/crates/onnxar): one file with an ONNX model and its weights, each aligned,
//! so that a program maps the file and uses the weights in place. No protobuf, no copies.
//!
//! ```no_run
//! let archive = onnxar::Archive::open("model.onnxar")?;
//! for tensor in archive.tensors()? {
//!     let tensor = tensor?;
//!     println!("{} {:?}: {} bytes", tensor.name(), tensor.dims(), tensor.data().len());
//! }
//! # Ok::<(), onnxar::Error>(())
//! ```
//!
//! Views cannot outlive the archive:
//!
//! ```compile_fail,E0505
//! let archive = onnxar::Archive::open("model.onnxar").unwrap();
//! let model = archive.data(archive.model()).unwrap();
//! drop(archive);
//! println!("{}", model.len());
//! ```
//!
//! An archive cannot outlive the bytes that it was opened from:
//!
//! ```compile_fail,E0597
//! let archive = {
//!     let bytes = std::fs::read("model.onnxar").unwrap();
//!     onnxar::Archive::from_bytes(&bytes).unwrap()
//! };
//! println!("{}", archive.len());
//! ```
//!
//! | feature | what it adds |
//! |---|---|
//! | `mmap` (default) | [`Archive::open`], with the crate memmap2 |
//! | `ort` | [`onnxruntime`]: sessions of the crate `ort`; needs Rust 1.92 |
//! | `load-dynamic` | `ort`, with the library of ONNX Runtime that `ORT_DYLIB_PATH` names |

#![warn(missing_docs)]

mod archive;
mod error;
mod ffi;
mod link;
#[cfg(feature = "ort")]
pub mod onnxruntime;
mod tensor;

pub use archive::Archive;
pub use error::Error;
pub use tensor::{Kind, Tensor, Tensors};

/// Embeds a file in the program, like `include_bytes!`, at a multiple of 4096, so that weights are aligned.
///
/// ```ignore
/// static MODEL: &[u8] = onnxar::include_archive!("model.onnxar");
/// let archive = onnxar::Archive::from_bytes(MODEL)?;
/// ```
#[macro_export]
macro_rules! include_archive {
    ($path:expr) => {{
        #[repr(C, align(4096))]
        struct Aligned<T: ?Sized>(T);
        static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &FILE.0
    }};
}
