// The tensors of an archive's model: what `tensors` of listing.h finds, and the bytes that `tensor_data` gives.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "base/near_names.h"
#include "base/text.h"
#include "c/arguments.h"
#include "c/calls.h"
#include "c/handles.h"
#include "onnxar/error.h"
#include "onnxar/listing.h"

struct onnxar_tensors {  // NOLINT(readability-identifier-naming): a name of C
  const onnxar::Archive& archive;
  std::vector<onnxar::StoredTensor> tensors;
  std::mutex mutex;  // guards `given`
  /// The bytes that callers have views of: the span keeps decoded ones alive.
  std::vector<std::optional<onnxar::ByteSpan>> given;
  std::once_flag indexed;
  /// By name, the first tensor that has it; empty until the first lookup.
  onnxar::base::KeyedMap<std::string_view, std::size_t> by_name;
  std::vector<bool> ambiguous;  // by the number of that first tensor: whether others have the name, too
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

Bytes bytes_of_tensor(onnxar_tensors& tensors, std::uint64_t index) {
  const StoredTensor& tensor = tensor_of(&tensors, index);
  const std::scoped_lock lock(tensors.mutex);
  std::optional<ByteSpan>& given = tensors.given[index];
  if (!given) given = tensor_data(tensors.archive, tensor);
  return given->bytes();
}

void index_names(onnxar_tensors& tensors) {
  tensors.ambiguous.resize(tensors.tensors.size());
  for (std::size_t i = 0; i < tensors.tensors.size(); ++i) {
    const std::string_view name = tensors.tensors[i].name;
    if (name.empty()) continue;  // tensors of attributes mostly have no name, and none can be meant by it
    const auto [found, is_new] = tensors.by_name.try_emplace(name, i);
    if (!is_new) tensors.ambiguous[found->second] = true;
  }
}

[[noreturn]] void refuse_unknown_name(const onnxar_tensors& tensors, std::string_view name) {
  NearNames near(name);
  for (const StoredTensor& tensor : tensors.tensors) near.consider(tensor.name);
  throw Error(Code::usage_no_such_tensor,
              base::concat("no tensor of the model has the name ", base::quoted(name), near.text()), {},
              tensors.archive.path());
}

std::uint64_t number_of(onnxar_tensors& tensors, std::string_view name) {
  std::call_once(tensors.indexed, [&tensors] { index_names(tensors); });
  const auto found = tensors.by_name.find(name);
  if (found == tensors.by_name.end()) refuse_unknown_name(tensors, name);
  if (!tensors.ambiguous[found->second]) return found->second;
  throw Error(Code::usage_ambiguous_tensor,
              base::concat("several tensors have the name ", base::quoted(name), "; tell them apart by their sites"),
              {tensors.tensors[found->second].site, std::nullopt}, tensors.archive.path());
}

}  // namespace
}  // namespace onnxar::c

// This file defines only functions of C, which no namespace could keep apart.
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
    *tensors = new onnxar_tensors{.archive = archive->archive,
                                  .tensors = std::move(found),
                                  .mutex = {},
                                  .given = std::vector<std::optional<ByteSpan>>(count),
                                  .indexed = {},
                                  .by_name = {},
                                  .ambiguous = {}};
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
    *bytes = c_bytes(bytes_of_tensor(*tensors, index));
  });
}

onnxar_status onnxar_lookup(onnxar_tensors* tensors, const char* name, size_t name_length, uint64_t* index,
                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensors != nullptr, "tensors");
    check_argument(index != nullptr, "index");
    *index = number_of(*tensors, text_of(name, name_length, "name"));
  });
}
