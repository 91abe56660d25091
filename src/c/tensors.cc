// The tensors of an archive's model, as TensorIndex has them.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/text.h"
#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "c/handles.h"
#include "onnxar/content.h"
#include "onnxar/error.h"

struct onnxar_tensors {  // NOLINT(readability-identifier-naming): a name of C
  explicit onnxar_tensors(const onnxar::Archive& of) : archive(of), index(of), given(index.size()) {}

  const onnxar::Archive& archive;
  onnxar::TensorIndex index;
  // Guards `given`: the header promises that several threads may ask one list for bytes at once.
  std::mutex mutex;
  /// The spans that callers have views of. A span keeps decoded values alive, and a second call gives the same address.
  std::vector<std::optional<onnxar::ByteSpan>> given;
};

namespace onnxar::c {
namespace {

static_assert(sizeof(void*) != 8 || sizeof(onnxar_tensor) == 56);

const StoredTensor& tensor_of(const onnxar_tensors* tensors, std::uint64_t index) {
  check_argument(tensors != nullptr, "tensors");
  if (index < tensors->index.size()) return tensors->index[base::in_memory(index)];
  throw Error(Code::usage_no_such_tensor,
              base::concat("tensor ", index, " does not exist: the model has ", tensors->index.size(), " tensors"), {},
              tensors->archive.path());
}

onnxar_tensor c_tensor(const StoredTensor& tensor) {
  return {tensor.name.data(),
          tensor.name.size(),
          tensor.site.data(),
          tensor.site.size(),
          tensor.dims.data(),
          tensor.dims.size(),
          static_cast<std::int32_t>(tensor.type),
          0};
}

Bytes bytes_of_tensor(onnxar_tensors& tensors, std::uint64_t index) {
  const StoredTensor& tensor = tensor_of(&tensors, index);
  // Decoded data is kept in the handle, so that its bytes live as long. Under the lock, two threads that ask for one
  // tensor get the same bytes.
  const std::scoped_lock lock(tensors.mutex);
  std::optional<ByteSpan>& given = tensors.given[base::in_memory(index)];
  if (!given) given = tensor_data(tensors.archive, tensor);
  return given->bytes();
}

std::uint64_t number_of(const onnxar_tensors& tensors, std::string_view name, bool describe) {
  if (const auto* found = tensors.index.find(name)) return static_cast<std::uint64_t>(found - tensors.index.begin());
  base::NearNames near(name);
  if (describe) {  // a caller that only asks whether a tensor exists does not wait for a walk over all names
    for (const StoredTensor& tensor : tensors.index) near.consider(tensor.name);
  }
  throw Error(Code::usage_no_such_tensor,
              base::concat("no tensor of the model has the name ", base::quoted(name), near.text()), {},
              tensors.archive.path());
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(tensors != nullptr, "tensors");
    *tensors = new onnxar_tensors(archive->archive);
  });
}

ONNXAR_C_EXPORT void onnxar_tensors_free(onnxar_tensors* tensors) { delete tensors; }

ONNXAR_C_EXPORT uint64_t onnxar_tensor_count(const onnxar_tensors* tensors) {
  return tensors == nullptr ? 0 : tensors->index.size();
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensor != nullptr, "tensor");
    *tensor = c_tensor(tensor_of(tensors, index));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                                      onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensors != nullptr, "tensors");
    check_argument(bytes != nullptr, "bytes");
    *bytes = c_bytes(bytes_of_tensor(*tensors, index));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_lookup(const onnxar_tensors* tensors, const char* name, size_t name_length,
                                            uint64_t* index, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensors != nullptr, "tensors");
    check_argument(index != nullptr, "index");
    *index = number_of(*tensors, text_of(name, name_length, "name"), error != nullptr);
  });
}
