// Tensors for C: found by the one walk, and their bytes by the one resolver.
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "c/calls.h"
#include "c/handles.h"
#include "onnxar/error.h"
#include "onnxar/listing.h"

struct onnxar_tensors {  // NOLINT(readability-identifier-naming): a name of C
  const onnxar::Archive& archive;
  std::vector<onnxar::StoredTensor> tensors;
  std::mutex mutex;
  /// What was asked for: a share in it, or the bytes themselves where they were decoded.
  std::vector<std::optional<onnxar::ByteSpan>> given;
};

namespace onnxar::c {
namespace {

const StoredTensor& tensor_of(const onnxar_tensors* tensors, std::uint64_t index) {
  check_argument(tensors != nullptr, "tensors");
  if (index < tensors->tensors.size()) return tensors->tensors[index];
  throw Error(Code::usage_no_such_tensor,
              base::concat("there is no tensor ", index, " among ", tensors->tensors.size()), {},
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

Bytes bytes_of(onnxar_tensors& tensors, std::uint64_t index) {
  const StoredTensor& tensor = tensor_of(&tensors, index);
  const std::scoped_lock lock(tensors.mutex);
  std::optional<ByteSpan>& given = tensors.given[index];
  if (!given) given = tensor_data(tensors.archive, tensor);
  return given->bytes();
}

}  // namespace
}  // namespace onnxar::c

// Of a file that has nothing to keep apart.
// NOLINTBEGIN(google-build-using-namespace,google-global-names-in-headers)
using namespace onnxar;
using namespace onnxar::c;
// NOLINTEND(google-build-using-namespace,google-global-names-in-headers)

onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(tensors != nullptr, "tensors");
    std::vector<StoredTensor> found = onnxar::tensors(archive->archive);
    const std::size_t count = found.size();
    *tensors = new onnxar_tensors{archive->archive, std::move(found), {}, std::vector<std::optional<ByteSpan>>(count)};
  });
}

void onnxar_tensors_free(onnxar_tensors* tensors) { delete tensors; }

uint64_t onnxar_tensor_count(const onnxar_tensors* tensors) { return tensors == nullptr ? 0 : tensors->tensors.size(); }

onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensor != nullptr, "tensor");
    *tensor = c_tensor(tensor_of(tensors, index));
  });
}

onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                      onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensors != nullptr, "tensors");
    check_argument(bytes != nullptr, "bytes");
    const Bytes found = bytes_of(*tensors, index);
    *bytes = {found.data(), found.size()};
  });
}
