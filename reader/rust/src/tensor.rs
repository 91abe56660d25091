//! Tensors, and the iterator over the tensors of a model.
use crate::archive::{bytes_at, Archive};
use crate::error::Error;
use crate::ffi;
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// Where the values of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nowhere: it has no elements, or is filled in later.
    None,
    /// In `raw_data` of the model.
    Inline,
    /// In an entry.
    Linked,
    /// In a typed field of the model, which [`Tensor::message`] has.
    Typed,
}

/// A tensor whose rules are checked. Its bytes live as long as the borrow of the archive.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    name: &'a [u8],
    output: Option<&'a [u8]>,
    site: String,
    dims: Vec<i64>,
    data_type: i32,
    kind: Kind,
    graph: usize,
    entry: Option<usize>,
    offset: u64,
    data: &'a [u8],
    message: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// Returns the name. Names that are not UTF-8 get replacement characters.
    pub fn name(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.name)
    }

    /// Returns the output of the Constant node whose value this tensor is: nodes refer to the weight by that name.
    pub fn output(&self) -> Option<Cow<'a, str>> {
        self.output.map(String::from_utf8_lossy)
    }

    /// Returns its place in the model, such as `graph.initializer[3]`.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Returns the number of its graph: 0 for the main graph. Subgraphs and functions may use the same names again.
    pub fn graph(&self) -> usize {
        self.graph
    }

    /// Returns the dimensions, which are not negative.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Returns the number of `TensorProto.DataType`, which is never 0.
    pub fn data_type(&self) -> i32 {
        self.data_type
    }

    /// Returns where the values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the index of the entry that has the data of a linked tensor.
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// Returns the offset of the data in the file. Do not use it for the kinds `None` and `Typed`.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes of a linked or inline tensor, in place and little-endian, as `raw_data` has them. Empty for
    /// the other kinds.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Returns the serialised TensorProto.
    pub fn message(&self) -> &'a [u8] {
        self.message
    }

    /// Returns the data as FLOATs. `None` if the type is not FLOAT, the address is not aligned, or the machine is
    /// big-endian.
    pub fn floats(&self) -> Option<&'a [f32]> {
        const FLOAT: i32 = 1;
        // SAFETY: any bytes are f32s.
        let (before, floats, after) = unsafe { self.data.align_to::<f32>() };
        let fits = before.is_empty() && after.is_empty() && cfg!(target_endian = "little");
        (fits && self.data_type == FLOAT && matches!(self.kind, Kind::Linked | Kind::Inline)).then_some(floats)
    }
}

impl Archive<'_> {
    /// Returns an iterator over the tensors of the model.
    pub fn tensors(&self) -> Result<Tensors<'_>, Error> {
        Tensors::new(self, self.model())
    }

    /// Returns an iterator over the tensors of a further graph, `decoder` for the entry `decoder.onnx`.
    pub fn graph_tensors(&self, graph: &str) -> Result<Tensors<'_>, Error> {
        Tensors::new(self, self.graph(Some(graph))?)
    }
}

/// The tensors of a model, in the order of its bytes. After an error the iterator ends.
pub struct Tensors<'a> {
    raw: *mut ffi::onnxar_reader_walk,
    model: &'a [u8],
    ended: bool,
    archive: &'a Archive<'a>,
}

// SAFETY: one thread at a time uses a walk, and functions that take a const archive may run in many threads.
unsafe impl Send for Tensors<'_> {}

impl<'a> Tensors<'a> {
    pub(crate) fn new(archive: &'a Archive<'a>, index: usize) -> Result<Self, Error> {
        let model = archive.data(index)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the borrow of the archive outlives the walk.
        archive.attempt(|error| unsafe { ffi::onnxar_reader_walk_open(archive.raw, index, &mut raw, error) })?;
        Ok(Tensors { raw, model, ended: false, archive })
    }

    /// Returns the serialised ModelProto.
    pub fn model(&self) -> &'a [u8] {
        self.model
    }

    fn advance(&mut self) -> Result<Option<Tensor<'a>>, Error> {
        let mut tensor = MaybeUninit::<ffi::onnxar_reader_tensor>::uninit();
        let call = |error| unsafe { ffi::onnxar_reader_walk_next(self.raw, tensor.as_mut_ptr(), error) };
        let more = self.archive.attempt(call)?;
        // SAFETY: a result of 1 says that the tensor is filled.
        Ok((more == 1).then(|| self.tensor(unsafe { tensor.assume_init_ref() })))
    }

    fn tensor(&self, raw: &ffi::onnxar_reader_tensor) -> Tensor<'a> {
        let mut length = 0;
        // SAFETY: the walk is at this tensor.
        let output = unsafe { ffi::onnxar_reader_walk_output(self.raw, &mut length) };
        let kind = [Kind::None, Kind::Inline, Kind::Linked, Kind::Typed][raw.kind as usize & 3];
        Tensor {
            name: self.within(raw.name.cast(), raw.name_length),
            output: (!output.is_null()).then(|| self.within(output.cast(), length)),
            site: self.site(),
            // SAFETY: valid until the next tensor, and so many.
            dims: if raw.rank == 0 { vec![] } else { unsafe { slice::from_raw_parts(raw.dims, raw.rank) }.to_vec() },
            data_type: raw.data_type,
            kind,
            graph: raw.graph,
            entry: (kind == Kind::Linked).then_some(raw.entry),
            offset: raw.offset,
            data: match kind {
                Kind::Inline => self.within(raw.data.cast(), raw.size as usize),
                // SAFETY: the bytes are in the archive's memory.
                Kind::Linked => unsafe { bytes_at(raw.data, raw.size) },
                _ => &[],
            },
            message: self.within(raw.message.cast(), raw.message_size),
        }
    }

    fn site(&self) -> String {
        // SAFETY: the second call gets a buffer of the size that the first one returned, and one byte for the end.
        let mut site = vec![0_u8; 1 + unsafe { ffi::onnxar_reader_walk_site(self.raw, ptr::null_mut(), 0) }];
        unsafe { ffi::onnxar_reader_walk_site(self.raw, site.as_mut_ptr().cast(), site.len()) };
        site.pop();
        String::from_utf8_lossy(&site).into_owned()
    }

    /// Returns bytes that C points to in the model, which outlive the walk because they borrow the archive.
    fn within(&self, at: *const u8, length: usize) -> &'a [u8] {
        let begin = (at as usize).wrapping_sub(self.model.as_ptr() as usize);
        if length == 0 {
            &[]
        } else {
            &self.model[begin..begin + length]
        }
    }
}

impl<'a> Iterator for Tensors<'a> {
    type Item = Result<Tensor<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Drop for Tensors<'_> {
    fn drop(&mut self) {
        // SAFETY: tensors borrow the archive and not the walk.
        unsafe { ffi::onnxar_reader_walk_close(self.raw) }
    }
}
