// Where the payloads of a model go when it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "skeleton/loaded_model.h"
#include "wire/rope.h"

namespace onnxar {

/// Gives each payload that moves its place outside; tensors that share their bytes share the place.
class PayloadLayout {
 public:
  /// Whether the data is written to its place, or is there already.
  enum class Data : std::uint8_t { written, there };
  struct Placement {
    onnx::ExternalLink slice;
    Data data = Data::written;
  };
  /// `place` finds a place for a payload of this tensor.
  using Place = std::function<Placement(const onnx::TensorSite&, const Payload&)>;
  explicit PayloadLayout(Place place) : place_(std::move(place)) {}

  onnx::ExternalLink put(const onnx::TensorSite& site, const Payload& payload);

  struct Placed {
    onnx::ExternalLink slice;
    const Payload* payload = nullptr;
  };
  /// What is written.
  [[nodiscard]] const std::vector<Placed>& placed() const noexcept { return placed_; }
  void note_without_data(const onnx::TensorSite& site);
  void add_to(ConvertReport& report) const;

 private:
  onnx::ExternalLink add(const onnx::TensorSite& site, const Payload& payload);

  Place place_;
  std::map<std::pair<const std::byte*, std::size_t>, onnx::ExternalLink> known_;
  std::vector<Placed> placed_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_ = 0;
};

/// A graph as it is written. The model that it was loaded with must outlive it.
struct PlacedGraph {
  std::string name;  ///< that it gets
  const LoadedGraph* graph = nullptr;
  wire::Rope proto = {};  ///< once it is placed
};
/// All graphs of a model, not placed yet.
std::vector<PlacedGraph> graphs_of(const LoadedModel& model);

/// The model with its payloads placed outside where the policy wants that, inline where not; and, then, in the same
/// way, these graphs of it. `output` is where it goes, if it may keep links to files. PayloadLayout of archives the
/// model loses its name as one of several. Errors: usage.not_loaded, onnx.model.expansion, which counts all graphs
/// together.
wire::Rope place_payloads(const LoadedModel& model, const SaveOptions& options, PayloadLayout& outside,
                          std::vector<PlacedGraph>& graphs, const std::filesystem::path* output = nullptr);

/// All bytes of graphs.
std::uint64_t size_of(const std::vector<PlacedGraph>& graphs);

/// Whether protobuf reads a model of so many bytes.
bool fits_inline(std::uint64_t size) noexcept;
/// Errors: onnx.model.too_large, with advice.
void check_model_size(std::uint64_t size, const std::filesystem::path& output, std::string_view advice);

/// Keeps the names of side files, and of the folders they are in, from becoming keys.
void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files);

/// All bytes of side files.
std::uint64_t size_of(const std::vector<SideFile>& side_files);

}  // namespace onnxar
