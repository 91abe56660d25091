// Finds the bytes of a model's tensors in an archive, one at a time or all by name.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "base/checked.h"
#include "base/errors.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"
#include "onnxar/content.h"

namespace onnxar {
namespace {

/// The data in the message itself. It may be longer than the dims require, which `check` only warns of.
std::optional<Bytes> inline_data(const TensorMessage& message, const onnx::TensorView& tensor) {
  prove_value_fields(tensor);
  const Bytes data = message.raw_data.value_or(Bytes());
  if (message.type == DataType::string || (message.typed_data && data.empty())) return std::nullopt;
  const auto expected = tensor.expected_size();
  if (!expected || data.size() >= *expected) return data;
  throw onnx::length_fault(base::concat("the message holds ", data.size(), " bytes of data"), tensor.type,  // M18
                           *expected);
}

/// Adds the tensor's name. The caller parsed the message, perhaps from a copy, so an offset in it says nothing about
/// the file.
Error with_tensor_name(const Error& error, const TensorMessage& tensor, const std::filesystem::path& path) {
  const std::string name = base::concat("tensor ", base::quoted(tensor.name));
  return base::annotate(error, {.prefix = name, .place = Place{}, .path = path});
}

}  // namespace

void prove_model(const Archive& archive) {
  walk_graph(archive, archive.model_entry(), {}, [](const onnx::TensorSite&) {});
}

std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor) {
  try {
    const onnx::TensorView view = view_of(tensor);
    onnx::prove_type(view);
    if (!tensor.external) return inline_data(tensor, view);
    return bytes_of(archive, part_named(archive, view, proved_link(view)));
  } catch (const Error& error) {
    throw with_tensor_name(error, tensor, archive.path());
  }
}

void check_link(const TensorMessage& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  try {
    // The link goes through the parser, so that a link is checked by the rules that its reader applies.
    const std::string offset_text = std::to_string(offset), length_text = std::to_string(length);
    TensorMessage linked{tensor.name, tensor.type, tensor.dims, true, std::nullopt, false, {}};
    linked.external_data = {{"location", location}, {"offset", offset_text}, {"length", length_text}};
    const onnx::TensorView view = view_of(linked);
    onnx::prove_type(view);
    static_cast<void>(proved_link(view));
  } catch (const Error& error) {
    throw with_tensor_name(error, tensor, {});
  }
}

struct TensorIndex::Parts {
  /// The first tensor that a name means, and the number of all.
  struct Named {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::vector<StoredTensor> tensors;
  std::filesystem::path path;
  // Views of `tensors`, which never changes. The hash is keyed, so that a hostile model cannot choose colliding names.
  base::KeyedMap<std::string_view, Named> by_name = {};
};

namespace {

/// Runtimes look weights up by the names of initializers. A Constant's tensor may have the same name by chance, and in
/// most models the nodes precede the initializers.
bool is_initializer(const StoredTensor& tensor) { return tensor.site.starts_with("graph.initializer["); }

}  // namespace

TensorIndex::TensorIndex(const Archive& archive, const LoadOptions& options)
    : parts_(detail::own<Parts>(tensors(archive, options), archive.path())) {
  const std::vector<StoredTensor>& all = parts_->tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) continue;
    Parts::Named& named = parts_->by_name.try_emplace(all[i].name, Parts::Named{i, 0}).first->second;
    const bool was_initializer = is_initializer(all[named.first]);
    if (is_initializer(all[i]) == was_initializer) {
      ++named.count;
    } else if (!was_initializer) {
      named = {i, 1};
    }
  }
}

const StoredTensor* TensorIndex::begin() const& noexcept { return parts_->tensors.data(); }
const StoredTensor* TensorIndex::end() const& noexcept { return begin() + parts_->tensors.size(); }

const StoredTensor* TensorIndex::find(std::string_view name) const& {
  const auto found = parts_->by_name.find(name);
  if (found == parts_->by_name.end()) return nullptr;
  const StoredTensor& first = (*this)[found->second.first];
  if (found->second.count == 1) return &first;
  std::vector<std::string> sites;
  for (const StoredTensor& tensor : *this) {
    if (sites.size() == most_candidates) break;
    if (tensor.name == name && is_initializer(tensor) == is_initializer(first)) sites.push_back(tensor.site);
  }
  throw ambiguous_tensor(name, found->second.count, "list the tensors, and choose one by its site", sites)
      .with_path(parts_->path);
}

namespace {

using base::concat;

/// The bytes that type and dimensions require. Inline data may be longer, which `check` only warns of.
Bytes cut_to_size(Bytes bytes, const onnx::TensorView& tensor) {
  return bytes.first(base::in_memory(tensor.expected_size().value_or(bytes.size())));
}

ByteSpan external_data(const Archive& archive, const onnx::TensorView& tensor) {
  return ByteSpan::borrow(bytes_of(archive, part_named(archive, tensor, proved_link(tensor))), archive.owner());
}

ByteSpan aligned_copy(const Archive& archive, const onnx::TensorView& tensor, const ByteSource& source) {
  const AlignedCopies::Key key{tensor.range.begin, tensor.range.end};
  return ArchiveAccess::copies(archive).get(key, source, archive.model().size());
}

/// Protobuf does not align bytes fields, but callers read the data as elements. Unaligned data is copied once.
ByteSpan aligned(const Archive& archive, const onnx::TensorView& tensor, Bytes bytes) {
  if (alignment_of(bytes) >= AlignedCopies::alignment) return ByteSpan::borrow(bytes, archive.owner());
  return aligned_copy(archive, tensor, SpanSource(bytes));
}

ByteSpan inline_data(const Archive& archive, const onnx::TensorView& tensor) {
  onnx::prove_values(archive.model(), tensor);
  if (tensor.type == DataType::string) onnx::refuse_conversion(tensor);
  if (tensor.raw_data) {
    return aligned(archive, tensor, cut_to_size(tensor.raw_data->of(archive.model()), tensor));
  }
  if (tensor.expected_size() == 0) return {};
  if (const auto raw = onnx::packed_raw_bytes(archive.model(), tensor)) return aligned(archive, tensor, *raw);
  // Varints and floats in unpacked fields have no run of raw bytes, so they are decoded into memory of the archive.
  const auto source = onnx::typed_data_source(archive.model(), tensor);
  if (source) return aligned_copy(archive, tensor, *source);
  onnx::refuse_conversion(tensor);
}

/// Reads the message at the place of `tensor`, and compares it with `tensor` before it is used. If the caller mixed up
/// two archives, the place may hold a different tensor, or bytes that are not a tensor.
onnx::TensorView own_tensor(const Archive& archive, const StoredTensor& tensor) {
  const Bytes model = archive.model();
  std::optional<onnx::TensorView> found;
  try {
    if (base::in_range(tensor.offset, tensor.size, model.size())) {
      found = onnx::read_tensor(model, {tensor.offset, tensor.offset + tensor.size});
    }
  } catch (const Error&) {
    found.reset();  // `tensors` refuses models with such bytes, so `tensor` comes from a different archive
  }
  if (found && found->name == tensor.name && found->type == tensor.type && found->dims == tensor.dims) return *found;
  throw Error(Code::usage_foreign_entry,
              "the tensor is not in this archive's model; use one that was listed from this archive", {},
              archive.path());
}

/// Returns `read(view)` of the tensor's message. Its errors name the tensor.
template <typename Read>
auto read_own(const Archive& archive, const StoredTensor& tensor, const Read& read) {
  try {
    const onnx::TensorView view = own_tensor(archive, tensor);
    onnx::prove_type(view);
    return read(view);
  } catch (const Error& error) {
    const std::string prefix = concat("tensor ", base::quoted(tensor.name), " (", tensor.site, ")");
    throw with_place_in(base::annotate(error, {.prefix = prefix}), archive);
  }
}

}  // namespace

std::string detail::step_into(std::string& site, std::string_view label, std::optional<std::size_t> index,
                              std::string_view attribute_name) {
  std::string before = site;
  onnx::append_step(site, label, index, onnx::name_for_path(attribute_name));
  return before;
}

std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options) {
  std::vector<StoredTensor> found;
  walk_graph(archive, archive.model_entry(), options, [&](const onnx::TensorSite& site) {
    found.push_back({info_of(site), site.tensor.range.begin, site.tensor.range.size()});
  });
  return found;
}

ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor) {
  return read_own(archive, tensor, [&](const onnx::TensorView& view) {
    return view.is_external() ? external_data(archive, view) : inline_data(archive, view);
  });
}

std::optional<ArchiveEntry> tensor_entry(const Archive& archive, const StoredTensor& tensor) {
  return read_own(archive, tensor, [&](const onnx::TensorView& view) {
    return view.is_external() ? std::optional(part_named(archive, view, proved_link(view)).entry) : std::nullopt;
  });
}

}  // namespace onnxar
