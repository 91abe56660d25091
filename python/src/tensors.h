// The tensors of an archive for Python: their descriptions, their bytes as buffers, and arrays of them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "binding.h"
#include "onnxar/archive.h"
#include "onnxar/model_stream.h"
#include "onnxar/tensors.h"

namespace onnxar::python {

/// The tensors of an archive. The reference is weak: tensors alone must not keep the mapping.
struct TensorsOf {
  std::vector<StoredTensor> list;
  std::weak_ptr<const void> archive;
  bool by_ranges = false;
};

/// A tensor of the list that it shares.
struct OwnedTensor {
  std::shared_ptr<const TensorsOf> all;
  const StoredTensor* tensor = nullptr;
};

/// Returns the tensors, their names, and the number of tensors without an array form.
nb::tuple tensor_list(const Archive& archive, bool by_ranges);

/// Returns steps as Python has them: tuples of a field's name and the index in a repeated field, else None.
nb::tuple as_tuple(std::span<const FieldStep> steps);

/// Returns the steps to each tensor, in the order of `tensor_list`.
nb::list steps_list(const Archive& archive);

/// Returns the name of the entry that has the tensor's data; None if the data is in the model.
nb::object entry_name(const Archive& archive, const OwnedTensor& of);

/// Returns the tensor's bytes with a share in the mapping. Throws what `tensor_data` throws; usage.argument (a tensor
/// of another archive).
ByteSpan data_of(const Archive& archive, const OwnedTensor& of);

/// Makes arrays of an archive's tensors until it is closed, without a call of Python code for most of them.
class ArrayMaker {
 public:
  /// Calls `closed()`, which raises an error, after `close`; and `before(tensor)`, unless it is None, before data is
  /// read. Arrays are `view(shape, dtype, buffer, offset)`, with the type in `dtypes` by its number. Those that
  /// `dtypes` lacks, or that NumPy may refuse, are `convert(buffer, type, shape, key)`.
  ArrayMaker(nb::object archive, nb::object closed, nb::list dtypes, nb::object view, nb::object convert,
             nb::object before);

  /// Returns the array of a tensor: the one in `replaced`, or else a new one.
  [[nodiscard]] nb::object make(const nb::object& key, const OwnedTensor& of) const;

  [[nodiscard]] nb::dict replaced() const { return replaced_; }

  void close();

 private:
  /// Returns the type of an array that views these bytes. Null for a type that `dtypes` lacks, and for what NumPy may
  /// refuse or cannot view: no bytes, more dimensions than NumPy 1 has, or an address that is not a multiple of an
  /// element's size.
  [[nodiscard]] nb::object dtype_of(const StoredTensor& tensor, Bytes data) const;

  nb::object archive_, closed_;
  nb::list dtypes_;
  nb::object view_, convert_, before_;
  nb::object file_;  ///< the buffer of the file that arrays share; null if each has its own
  nb::dict replaced_;
};

/// Returns the maker of an archive's arrays. The parameters are those of its constructor.
ArrayMaker arrays_of(nb::object archive, nb::object closed, nb::list dtypes, nb::object view, nb::object convert,
                     nb::object before);

}  // namespace onnxar::python
