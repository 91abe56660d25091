// Compares two models of any form.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/tensor_text.h"
#include "base/kept.h"
#include "convert/archive_source.h"
#include "convert/expansion.h"
#include "model/data_difference.h"
#include "model/front_end.h"
#include "model/message_difference.h"
#include "model/messages.h"
#include "model/payload_table.h"
#include "model/side_file_difference.h"

namespace onnxar {
namespace {

using Opened = std::shared_ptr<const RandomAccess>;

/// Returns the bytes as they are, also where type and dimensions do not fit them: two models with the same fault are
/// equal.
ByteSpan bytes_in(const Model& model, const schema::TensorProto& tensor) {
  return is_linked(tensor) ? ByteSpan::borrow(model.span(tensor).bytes()) : model.payload(tensor);
}

/// Returns the number of bytes by type and dimensions; for an unknown type, the size of the raw data.
std::uint64_t bytes_of(const Model& model, const schema::TensorProto& tensor, const TensorInfo& info) {
  if (const auto size = payload_size(info.type, info.dims)) return *size;
  const bool is_raw = info.type != DataType::string && (tensor.has_raw_data() || is_linked(tensor));
  return is_raw ? bytes_in(model, tensor).size() : 0;
}

/// Returns the fields that hold values or say where they are, whatever the tensor's type. The comparison of messages
/// leaves these out.
std::string values_in(const schema::TensorProto& tensor) {
  schema::TensorProto values;
  *values.mutable_float_data() = tensor.float_data();
  *values.mutable_int32_data() = tensor.int32_data();
  *values.mutable_string_data() = tensor.string_data();
  *values.mutable_int64_data() = tensor.int64_data();
  *values.mutable_double_data() = tensor.double_data();
  *values.mutable_uint64_data() = tensor.uint64_data();
  *values.mutable_external_data() = tensor.external_data();
  if (tensor.data_location() != schema::TensorProto::DEFAULT) values.set_data_location(tensor.data_location());
  values.set_raw_data(tensor.raw_data());
  return values.SerializePartialAsString();
}

/// Compares tensors whose values are not an array of elements, or are in fields of another type.
std::optional<DataDifference> compare_values(const schema::TensorProto& before, const schema::TensorProto& after,
                                             std::uint64_t elements) {
  if (values_in(before) == values_in(after)) return std::nullopt;
  DataDifference found;
  found.elements = found.differing = std::max<std::uint64_t>(elements, 1);
  return found;
}

std::optional<DataDifference> compare_strings(const schema::TensorProto& before, const schema::TensorProto& after) {
  DataDifference found;
  const int size = std::max(before.string_data_size(), after.string_data_size());
  found.elements = static_cast<std::uint64_t>(size);
  for (int i = 0; i < size; ++i) {
    const bool in_both = i < before.string_data_size() && i < after.string_data_size();
    if (in_both && before.string_data(i) == after.string_data(i)) continue;
    if (found.differing++ == 0) found.first = static_cast<std::uint64_t>(i);
  }
  if (found.differing != 0) return found;
  return compare_values(before, after, found.elements);  // such a tensor may also have numbers
}

using Graphs = std::map<std::string, schema::ModelProto>;

/// Compares two models, and graphs over the payloads of both. The comparison of messages passes each pair of tensors to
/// `tensor`.
class Comparison {
 public:
  Comparison(base::Kept<const Model> before, base::Kept<const Model> after, std::uint64_t max_expansion,
             ProgressCallback tell, Graphs graphs_before, Graphs graphs_after)
      : before_(before),
        after_(after),
        graphs_before_(std::move(graphs_before)),
        graphs_after_(std::move(graphs_after)),
        bytes_(distinct_bytes(places_of(before, graphs_before_)) + distinct_bytes(places_of(after, graphs_after_))),
        expansion_(bytes_, max_expansion),
        tell_(std::move(tell)) {}

  Difference run() { return compare(before_.proto(), after_.proto()); }

  /// Returns the names of the graphs that both have, and that differ.
  std::set<std::string> changed_graphs() {
    std::set<std::string> changed;
    for (const auto& [name, before] : graphs_before_) {
      const auto after = graphs_after_.find(name);
      if (after != graphs_after_.end() && !compare(before, after->second).none()) changed.insert(name);
    }
    return changed;
  }

  /// Reports that everything is compared. Data that only one model has was neither compared nor counted.
  void end() const {
    if (tell_ && done_ != bytes_) tell_(bytes_, bytes_);
  }

 private:
  Difference compare(const schema::ModelProto& before, const schema::ModelProto& after) {
    found_ = {};
    found_.graph = compare_messages(before, after, [this](const TensorPair& pair) { tensor(pair); });
    return std::move(found_);
  }

  void tensor(const TensorPair& pair) {
    TensorChange change;
    if (pair.before != nullptr) {
      change.before = info_of(*pair.before, pair.site_before);
      change.bytes_before = bytes_of(before_, *pair.before, *change.before);
    }
    if (pair.after != nullptr) {
      change.after = info_of(*pair.after, pair.site_after);
      change.bytes_after = bytes_of(after_, *pair.after, *change.after);
    }
    change.site = change.before ? pair.site_before : pair.site_after;
    if (!change.before) change.change = Change::added;
    if (!change.after) change.change = Change::removed;
    if (change.change == Change::changed && same(pair, change)) return;
    found_.tensors.push_back(std::move(change));
  }

  bool same(const TensorPair& pair, TensorChange& change) {
    ++found_.compared;
    if (change.before->type != change.after->type || change.before->dims != change.after->dims ||
        change.bytes_before != change.bytes_after) {
      return false;
    }
    change.data = data(pair, *change.before, change.bytes_before);
    return !change.data;
  }

  std::optional<DataDifference> data(const TensorPair& pair, const TensorInfo& info, std::uint64_t bytes) {
    if (info.type == DataType::string) return compare_strings(*pair.before, *pair.after);
    // payload_size of one-byte elements is their number.
    const std::uint64_t elements =
        bits_per_element(info.type) == 0 ? bytes : payload_size(DataType::uint8, info.dims).value_or(bytes);
    ByteSpan first, second;
    try {
      first = bytes_in(before_, *pair.before);
      second = bytes_in(after_, *pair.after);
    } catch (const Error& error) {
      // Without raw bytes, the fields are compared: two models with the same fault are equal.
      if (!says_no_raw_bytes(error.code())) throw;
      return compare_values(*pair.before, *pair.after, elements);
    }
    // Loading has compared sizes with type and dimensions. Reading beyond a payload must not depend on that.
    if (first.size() != second.size()) return compare_values(*pair.before, *pair.after, elements);
    // Results are kept by address. Decoded data is freed after this function, and its address may be reused for
    // different data.
    const bool shared = is_linked(*pair.before) && is_linked(*pair.after);
    return shared ? once(first.bytes(), second.bytes(), info.type, elements)
                  : compare_data(first.bytes(), second.bytes(), info.type, elements);
  }

  /// True if an error means that the tensor's message has no raw bytes, or a wrong number of them.
  static bool says_no_raw_bytes(Code code) {
    return code == Code::onnx_tensor_not_converted || code == Code::onnx_tensor_length ||
           code == Code::onnx_tensor_data_beside || code == Code::onnx_tensor_wrong_field ||
           code == Code::onnx_tensor_no_type;
  }

  /// Compares bytes that several tensors share only once. A hostile archive may still have any number of slices that
  /// overlap; `expansion_` limits their sum.
  std::optional<DataDifference> once(Bytes before, Bytes after, DataType type, std::uint64_t elements) {
    const Key key(before.data(), after.data(), before.size(), type, elements);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    expansion_.add(before.size());
    expansion_.add(after.size());
    auto& found = known_[key] = compare_data(before, after, type, elements);
    done_ = std::min(bytes_, done_ + before.size() + after.size());  // slices that overlap are compared several times
    if (tell_) tell_(done_, bytes_);
    return found;
  }

  /// Returns the memory of all linked data.
  static std::vector<Bytes> places_of(const Model& model, const Graphs& graphs) {
    std::vector<Bytes> places;
    const auto add = [&](const schema::TensorProto& tensor, const TensorInfo&) {
      if (is_linked(tensor)) places.push_back(model.span(tensor).bytes());
    };
    for_each_tensor(model.proto(), add);
    for (const auto& [name, graph] : graphs) for_each_tensor(graph, add);
    return places;
  }

  using Key = std::tuple<const std::byte*, const std::byte*, std::size_t, DataType, std::uint64_t>;

  const Model& before_;
  const Model& after_;
  Graphs graphs_before_, graphs_after_;
  std::uint64_t bytes_;  // of all distinct linked data
  std::uint64_t done_ = 0;
  Expansion expansion_;
  ProgressCallback tell_;
  std::map<Key, std::optional<DataDifference>> known_;
  Difference found_;
};

/// Maps the files, regardless of `load`: the comparison reads each weight once, and a copy would cost memory.
Model load_mapped(const std::filesystem::path& path, const LoadOptions& load) {
  LoadOptions options = load;
  options.no_copy = true;
  return Model::load(path, options);
}

/// Returns the options of `load`, except that each address is opened only once, even if its path is requested several
/// times.
LoadOptions opening_once(const LoadOptions& load) {
  if (!load.open_ranges) return load;
  LoadOptions once = load;
  // Shared, since options are copied.
  const auto opened = std::make_shared<std::map<std::filesystem::path, Opened>>();
  once.open_ranges = [open = load.open_ranges, opened](const std::filesystem::path& path) {
    const auto found = opened->find(path);
    return found != opened->end() ? found->second : (*opened)[path] = open(path);
  };
  return once;
}

/// Addresses are those of archives.
bool names_archive(const std::filesystem::path& path, const LoadOptions& load) {
  return (load.open_ranges && load.open_ranges(path) != nullptr) || is_archive(path);
}

/// Returns the options to load `path` with. A graph of an archive can be compared with a model of another form, which
/// has one graph.
LoadOptions options_for(const std::filesystem::path& path, const std::filesystem::path& other,
                        const LoadOptions& load) {
  LoadOptions options = load;
  if (!load.graph.empty() && !names_archive(path, load) && names_archive(other, load)) options.graph.clear();
  return options;
}

/// The name among the graphs belongs to an archive as a whole, and not to the model that `unpack` would write.
void drop_name(Model& model) {
  keep_only(*model.proto().mutable_metadata_props(), [](const auto& each) { return each.key() != model_name_key; });
}

}  // namespace

std::string_view to_string(Change change) noexcept {
  switch (change) {
    case Change::added: return "added";
    case Change::removed: return "removed";
    case Change::changed: return "changed";
  }
  return "";
}

Difference diff(const std::filesystem::path& before, const std::filesystem::path& after, const LoadOptions& load,
                const ProgressCallback& progress) {
  const LoadOptions once = opening_once(load);
  Model first = load_mapped(before, options_for(before, after, once));
  Model second = load_mapped(after, options_for(after, before, once));
  const Archive* const first_archive = archive_of(*PayloadTable::of(first).source);
  const Archive* const second_archive = archive_of(*PayloadTable::of(second).source);
  const bool whole = load.graph.empty() && first_archive != nullptr && second_archive != nullptr;
  if (!whole && first_archive != nullptr) drop_name(first);
  if (!whole && second_archive != nullptr) drop_name(second);
  Comparison comparison(first, second, load.max_expansion, progress, whole ? first.further_graphs() : Graphs(),
                        whole ? second.further_graphs() : Graphs());
  Difference found = comparison.run();
  if (whole) found.files = compare_side_files(*first_archive, *second_archive, comparison.changed_graphs());
  comparison.end();
  if (!found.none()) {
    if (first_archive != nullptr) expect_undamaged(*first_archive, found);
    if (second_archive != nullptr) expect_undamaged(*second_archive, found);
  }
  return found;
}

}  // namespace onnxar
