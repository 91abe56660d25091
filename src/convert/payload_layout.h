// Plans an output: decides where each payload goes before anything is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "convert/equal_payloads.h"
#include "convert/load.h"
#include "convert/payload.h"
#include "onnx/rope.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"

namespace onnxar {

/// States which tensors share a place in the output: those that share bytes in the input, or also those with equal
/// bytes.
enum class Sharing : std::uint8_t { same_bytes, equal_bytes };

/// Gives a place to each payload that moves out of the model. Tensors that share bytes share the place. Not
/// synchronised.
class PayloadLayout {
 public:
  /// States if data must be written to its place (`to_write`), or if its place already has it (`existing`).
  enum class Data : std::uint8_t { to_write, existing };
  struct Placement {
    onnx::ExternalLink slice;
    Data data = Data::to_write;
  };
  /// Returns the place of a payload of this tensor, for a graph in this folder.
  using Place = std::function<Placement(const std::string& folder, const onnx::TensorSite&, const Payload&)>;
  /// `output` is the path of the written model. Finds equal bytes on `threads` threads; 0 means as many as there are
  /// cores.
  PayloadLayout(std::filesystem::path output, Place place, Sharing sharing = Sharing::same_bytes,
                std::size_t threads = 1)
      : output_(std::move(output)), place_(std::move(place)), sharing_(sharing), equal_(threads) {}

  [[nodiscard]] const std::filesystem::path& output() const noexcept { return output_; }
  /// Places payloads for a graph in this folder from now on. In an archive, payloads of all folders share places; in a
  /// tree of files, only payloads of the same folder, or of the same data file of a folder.
  void set_folder(std::string folder, std::string_view data_file = {}) {
    group_ = folder;
    group_ += data_file;
    folder_ = std::move(folder);
  }
  /// Adds the data of a tensor to the size of the whole output. Sums of payload sizes cannot wrap after that. Throws
  /// usage.argument, with the names of the tensor and the output, if the size is over the limit.
  void count(const onnx::TensorSite& site, const Payload& payload);
  /// True if a payload with the same extent has a place, in any folder.
  [[nodiscard]] bool has(const Payload& payload) const;
  /// Returns the link to a payload that moves out; valid as long as the layout. Calls `count` for the first tensor of a
  /// payload. Throws what `count` throws, and with Sharing::equal_bytes what reading the payload throws.
  const onnx::ExternalLink& put(const onnx::TensorSite& site, const Payload& payload);

  struct Placed {
    std::string folder;  ///< folder of the graph; `slice.location` is relative to it
    onnx::ExternalLink slice;
    const Payload* payload = nullptr;
  };
  /// Returns the payloads to be written, in order.
  [[nodiscard]] const std::vector<Placed>& placed() const noexcept { return placed_; }
  void note_without_data(const onnx::TensorSite& site, const PlacesWithoutData& places);
  /// Moves the remarks to the report. Call it once.
  void add_to(ConvertReport& report);

 private:
  onnx::ExternalLink add(const onnx::TensorSite& site, const Payload& payload);

  std::filesystem::path output_;
  Place place_;
  Sharing sharing_;
  EqualPayloads equal_;  // used with Sharing::equal_bytes
  std::string folder_;
  std::string group_;  // identifies payloads that may share a place
  std::map<std::pair<Extent, std::string>, onnx::ExternalLink> known_;
  std::vector<Placed> placed_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_ = 0;
  std::uint64_t shared_ = 0;  // bytes that equal others and are not written again
  std::uint64_t nested_ = 0;  // those in subgraphs, functions and attributes
  std::uint64_t bytes_ = 0;   // bytes of all payloads, including inline ones
};

/// Holds a graph of a loaded model in its written form.
struct PlacedGraph {
  std::string name;  ///< its new name
  const LoadedGraph* graph = nullptr;
  onnx::Rope proto = {};  ///< set by place_payloads
};
/// Returns all graphs of a model in the form that place_payloads takes.
std::vector<PlacedGraph> graphs_of(base::Kept<const LoadedModel> model);

/// Returns the options for a graph, by its name; empty for the model. They are valid up to the next call.
using OptionsOf = std::function<const SaveOptions&(const std::string& graph)>;

/// Rewrites the model: payloads that the policy moves out become links, all others become inline. Then rewrites
/// `graphs` in the same way. Only an inline model may keep links to files. Outside archives the model loses its name
/// among several graphs. Throws usage.not_loaded, usage.argument for data of more than zip::largest_entry bytes, and
/// onnx.model.expansion, which counts all graphs together.
onnx::Rope place_payloads(const LoadedModel& model, const OptionsOf& options_of, PayloadLayout& layout,
                          std::vector<PlacedGraph>& graphs);

/// Returns the total size of all graphs.
std::uint64_t size_of(const std::vector<PlacedGraph>& graphs);

/// Throws onnx.model.too_large, with `hint` as advice, if protobuf cannot read a model of this size.
void check_model_size(std::uint64_t size, const std::filesystem::path& output, Hint hint);

}  // namespace onnxar
