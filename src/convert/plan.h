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

#include "archive/access.h"
#include "convert/load.h"
#include "convert/model_source.h"
#include "onnx/splice.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

// Finds payloads with equal bytes, which an output of several models stores once.

/// Finds equal payloads by their CRC-32, and compares each match byte for byte. Not synchronised.
///
/// Most payloads differ from all others in their type, size or first bytes, and are not read further. Any other payload
/// is read at most three times, for any input: for its CRC-32, and for one comparison with the first payload that has
/// the same CRC-32. So the cost is linear in the bytes of all payloads. If data was made so that CRC-32s collide, equal
/// payloads may be missed, but nothing worse happens.
class EqualPayloads {
 public:
  /// Computes the checksums of large payloads on `threads` threads; 0 means as many as there are cores.
  explicit EqualPayloads(std::size_t threads = 1) : threads_(threads) {}

  /// Returns the first payload of this type with the bytes of `payload`; null if this is the first. The payload must
  /// outlive this object. Reads `payload`, if it is not the first, to its end with its checks (Payload::source). If
  /// reading produces the first, compares it only up to 16 MiB, because it must be in memory for that. Throws what
  /// reading the payloads throws.
  const Payload* first_of(DataType type, const Payload& payload);

 private:
  struct Met {
    const Payload* first = nullptr;
    bool is_alone = true;  // no other payload has had this key yet, so the first was not read further
  };
  /// States how much of a payload is read. Each level distinguishes payloads that the previous one did not, and costs
  /// more.
  enum class Level : std::uint8_t { size, beginning, all };
  /// Identifies data by level, type, size, and the CRC-32 of what the level reads.
  using Key = std::tuple<Level, DataType, std::uint64_t, std::uint32_t>;

  [[nodiscard]] Key key_at(Level level, DataType type, const Payload& payload) const;

  std::size_t threads_;
  std::map<Key, Met> met_;
};

/// Verifies the checksums in links to entries of an archive that its new model keeps.
class KeptChecksums {
 public:
  KeptChecksums(const Archive& archive, const LoadOptions& load)
      : archive_(ArchiveAccess::share(archive)), verify_(load.verify_data) {}

  /// Reads the entry of a kept link if the link has a checksum that is not known yet, and throws
  /// onnx.external_data.checksum if it differs. Checksums in the links of the archive's models count as known, as far
  /// as these can be read: summing would read all weights in every edit. Does nothing without LoadOptions::verify_data.
  void prove(const Payload& payload);

 private:
  void note_stated();

  Archive archive_;
  bool verify_;
  std::optional<std::set<std::pair<std::string, std::string>>> known_;  // entries and their checksums
};

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
  /// Returns the link to a payload that moves out. Calls `count` for the first tensor of a payload. Throws what `count`
  /// throws, and with Sharing::equal_bytes what reading the payload throws.
  onnx::ExternalLink put(const onnx::TensorSite& site, const Payload& payload);

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
  std::map<std::pair<std::string, Extent>, onnx::ExternalLink> known_;
  std::vector<Placed> placed_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_ = 0;
  std::uint64_t shared_ = 0;  // bytes that equal others and are not written again
  std::uint64_t nested_ = 0;  // those in subgraphs, functions and attributes
  std::uint64_t bytes_ = 0;   // bytes of all payloads, including inline ones
};

/// Holds a graph in its written form. The model that it was loaded with must outlive it.
struct PlacedGraph {
  std::string name;  ///< its new name
  const LoadedGraph* graph = nullptr;
  onnx::Rope proto = {};  ///< set by place_payloads
};
/// Returns all graphs of a model in the form that place_payloads takes.
std::vector<PlacedGraph> graphs_of(const LoadedModel& model);

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
