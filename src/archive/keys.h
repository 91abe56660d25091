// The kinds of entry names: keys, graphs, reserved names. `KeyMaker` (archive_writer.h) makes keys.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// Whether the format reserves the name: it begins with `__` and a capital (N13).
bool is_reserved_name(std::string_view name) noexcept;
/// Refuses reserved names, and spellings of the model's name in any case, for entries other than the model.
/// Errors: archive.name.reserved, at `place`.
void check_reserved(std::string_view name, const Place& place);
/// Refuses an archive with an entry that has the name of the archive's own file: that name is the location of links to
/// the file (K8). Errors: usage.own_name.
void refuse_own_name(const Archive& archive, const std::filesystem::path& file);
/// As above, for the name of an entry that is to be added.
void refuse_own_name(std::string_view name, const std::filesystem::path& file);
/// True if the name is a C identifier, as all keys are.
bool is_identifier(std::string_view name) noexcept;
/// True if an entry of this name is the data of a tensor even if no tensor names it: a C identifier that is not the
/// usual name of a text beside a model, such as LICENSE. Side files have other names.
bool is_key(std::string_view name) noexcept;

/// True if an entry of this name is a further graph: its last part is `NAME.onnx` (G1).
bool is_graph_name(std::string_view name) noexcept;
/// The suffix of graph names.
inline constexpr std::string_view graph_suffix = ".onnx";
/// The name of a graph's entry: `decoder.onnx` for `decoder` and for `decoder.onnx`.
std::string graph_file_name(std::string_view name);

/// The names of entries that a caller may mean by the name of a graph, the likeliest first: `unet` is `unet.onnx` or
/// `unet/model.onnx`.
std::array<std::string, 3> graph_file_names(std::string_view name);
/// The folder of an entry's name, with `/` at its end; empty for a name in the root.
std::string_view folder_of_name(std::string_view name) noexcept;

/// Converts `name` to a key, without regard to clashes (W12). Bytes outside [A-Za-z0-9_] become `_`. `_` is put before
/// a leading digit, and `t_` before a reserved name or a device name of Windows. An empty name becomes `tensor`. The
/// result is cut at 200 bytes.
std::string key_stem(std::string_view name);

// The names that a caller gives to entries of a new archive.

/// Maps old names of entries to new ones. Refers to the list that the constructor receives, which must outlive it.
class Renames {
 public:
  /// Errors: usage.argument (an old name is given twice, or a new name is a C identifier); zip.name.* and
  /// archive.name.reserved for a new name.
  explicit Renames(const std::vector<RenamedEntry>& list);

  [[nodiscard]] bool empty() const noexcept { return by_old_name_.empty(); }
  /// Returns the new name of the entry `name`, or `name` if it is not renamed.
  std::string_view operator()(std::string_view name);
  /// Refuses old names that were never looked up. `what` ("entry") is the kind of thing for the message. Errors:
  /// usage.argument.
  void expect_all_met(std::string_view what) const;

 private:
  struct Rename {
    std::string_view name;
    bool met = false;
  };
  base::KeyedMap<std::string_view, Rename> by_old_name_;
};

}  // namespace onnxar
