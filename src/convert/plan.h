// Plans an output: decides where each payload goes before anything is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "convert/load.h"
#include "convert/model_source.h"
#include "onnx/splice.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

// Finds payloads with equal bytes, which an output of several models holds once.

/// Finds equal payloads by their CRC-32, and compares each match byte for byte. Not synchronised.
///
/// Most payloads differ from all others in their type, size or first bytes, and are not read further. Any other is read
/// at most three times, whatever the input is: for its CRC-32, and for one comparison with the first payload that has
/// it. So the cost is linear in the bytes of all payloads. Data made so that CRC-32s collide can only miss its equals.
class EqualPayloads {
 public:
  /// `threads` sum large payloads; 0: as many as there are cores.
  explicit EqualPayloads(std::size_t threads = 1) : threads_(threads) {}

  /// The first payload of this type with the bytes of `payload`; null if this is the first. The payload must outlive
  /// this object. The one that is not the first is read to its end with its checks (Payload::source). If reading
  /// produces the first, it is compared only up to 16 MiB, since it has to be in memory for that. Errors: those of
  /// reading.
  const Payload* first_of(DataType type, const Payload& payload);

 private:
  struct Met {
    const Payload* first = nullptr;
    bool is_alone = true;  // no second payload had this key yet, so the first was not read further
  };
  /// What of a payload is read. Each level tells apart what the one before did not, and costs more.
  enum class Level : std::uint8_t { size, beginning, all };
  /// With the size and the CRC-32 of what the level reads.
  using Key = std::tuple<Level, DataType, std::uint64_t, std::uint32_t>;

  [[nodiscard]] Key key_at(Level level, DataType type, const Payload& payload) const;

  std::size_t threads_;
  std::map<Key, Met> met_;
};

/// Proves the checksums in links to entries of an archive that its new model keeps.
class KeptChecksums {
 public:
  /// Both must outlive it.
  KeptChecksums(const Archive& archive, const LoadOptions& load) : archive_(archive), load_(load) {}

  /// Reads the entry of a kept link, if it has a checksum that is not known yet. Known are those in the links of the
  /// archive's models, as far as these can be read: summing would read all weights with every edit. Does nothing
  /// without LoadOptions::verify_data. Errors: onnx.external_data.checksum.
  void prove(const Payload& payload);

 private:
  void note_stated();

  const Archive& archive_;
  const LoadOptions& load_;
  std::optional<std::set<std::pair<std::string, std::string>>> known_;  // entries and their checksums
};

/// Which tensors share a place in the output: those that share bytes in the input, or also those with equal bytes.
enum class Sharing : std::uint8_t { same_bytes, equal_bytes };

/// Gives a place to each payload that moves out of the model. Tensors that share bytes share the place. Not
/// synchronised.
class PayloadLayout {
 public:
  /// `written`: the data has to be written to its place. `there`: it is there already.
  enum class Data : std::uint8_t { written, there };
  struct Placement {
    onnx::ExternalLink slice;
    Data data = Data::written;
  };
  /// Returns the place of a payload of this tensor, for a graph in this folder.
  using Place = std::function<Placement(const std::string& folder, const onnx::TensorSite&, const Payload&)>;
  /// `output` is the path of the model that is written. `threads` find equal bytes; 0: as many as there are cores.
  PayloadLayout(std::filesystem::path output, Place place, Sharing sharing = Sharing::same_bytes,
                std::size_t threads = 1)
      : output_(std::move(output)), place_(std::move(place)), sharing_(sharing), equal_(threads) {}

  [[nodiscard]] const std::filesystem::path& output() const noexcept { return output_; }
  /// Places payloads for a graph in this folder from now on: an archive has one place for all folders, and a tree of
  /// files one in each, or one for each data file of a folder.
  void set_folder(std::string folder, std::string_view data_file = {}) {
    group_ = folder;
    group_ += data_file;
    folder_ = std::move(folder);
  }
  /// Adds to the bytes of the whole output the data of a tensor. Sums of payload sizes cannot wrap after that. Errors:
  /// usage.argument, naming the tensor and the output.
  void count(const onnx::TensorSite& site, const Payload& payload);
  /// The place of a payload that moves out. Errors: as `count`, which it calls for the first tensor of a payload; those
  /// of reading it, with Sharing::equal_bytes.
  onnx::ExternalLink put(const onnx::TensorSite& site, const Payload& payload);

  struct Placed {
    std::string folder;  ///< of the graph; `slice.location` counts from it
    onnx::ExternalLink slice;
    const Payload* payload = nullptr;
  };
  /// The payloads to be written, in order.
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
  std::string group_;  // of payloads that may share a place
  std::map<std::pair<std::string, Extent>, onnx::ExternalLink> known_;
  std::vector<Placed> placed_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_ = 0;
  std::uint64_t shared_ = 0;  // bytes that equal others, and are not written again
  std::uint64_t nested_ = 0;  // of these, in subgraphs, functions and attributes
  std::uint64_t bytes_ = 0;   // of all payloads, inline ones as well
};

/// A graph in its written form. The model that it was loaded with must outlive it.
struct PlacedGraph {
  std::string name;  ///< its new name
  const LoadedGraph* graph = nullptr;
  onnx::Rope proto = {};  ///< set by place_payloads
};
/// All graphs of a model, as place_payloads takes them.
std::vector<PlacedGraph> graphs_of(const LoadedModel& model);

/// Returns the options for a graph, by its name; empty for the model. They are valid up to the next call.
using OptionsOf = std::function<const SaveOptions&(const std::string& graph)>;

/// Rewrites the model: payloads that the policy moves out become links, all others are inline. Then rewrites `graphs`
/// in the same way. Only an inline model may keep links to files. Outside archives the model loses its name among
/// several graphs. Errors: usage.not_loaded; usage.argument (data of more than zip::largest_entry bytes);
/// onnx.model.expansion, which counts all graphs together.
onnx::Rope place_payloads(const LoadedModel& model, const OptionsOf& options_of, PayloadLayout& layout,
                          std::vector<PlacedGraph>& graphs);

/// The total size of all graphs.
std::uint64_t size_of(const std::vector<PlacedGraph>& graphs);

/// Errors: onnx.model.too_large, with `hint` as advice.
void check_model_size(std::uint64_t size, const std::filesystem::path& output, Hint hint);

}  // namespace onnxar
