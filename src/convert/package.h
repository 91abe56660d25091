// Reads a model package of ONNX Runtime: a folder whose `manifest.json` lists variants of models, each for a kind of
// machine.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "onnxar/error.h"

namespace onnxar {

inline constexpr std::string_view manifest_name = "manifest.json";
/// The configuration of ONNX Runtime GenAI, which has no package beside it.
inline constexpr std::string_view genai_config_name = "genai_config.json";
/// The option of a session for the folder of external data.
inline constexpr std::string_view data_folder_option = "session.model_external_initializers_file_folder_path";

/// The last member of an object with this key, which is the one that counts; null if it has none.
const base::JsonMember* member_named(const std::vector<base::JsonMember>& members, std::string_view key);

/// The folder of a name in a package, without `/` at its end; empty for a name in the root.
std::string_view folder_in_package(std::string_view name) noexcept;

/// Names in a package are paths in its folder, with `/`, without `.` and `..`. Immutable.
class Package {
 public:
  /// Bytes of all files of a package. Real ones have some kilobytes.
  static constexpr std::size_t most_bytes = 16U << 20U;
  /// Returns the bytes of a file of the package by its name; nothing if there is no such file. Need not return more
  /// than one byte over the limit.
  using TextOf = std::function<std::optional<std::string>(const std::string& name)>;

  /// A value in one of the files of the package.
  struct At {
    std::string file;
    base::JsonValue value;
  };
  struct Variant {
    std::string name;
    At body;
    std::string ep = {}, device = {}, compatibility = {};  ///< empty if they are not given
    std::string graph = {};                                ///< name of the model's file; empty if none is named
    std::string folder = {};                               ///< that its paths count from; empty: the package's
    std::optional<At> executor = {};                       ///< the object for ONNX Runtime
    /// Where ONNX Runtime looks for the data of the graph; empty: beside the graph.
    std::optional<std::string> data_folder = {};
    std::optional<At> session_options = {};  ///< the object with the option for this folder
  };
  struct Component {
    std::string name;
    std::string folder;  ///< that folders of variants are in; empty: the package's
    At variants;         ///< the object with the variants
    std::vector<Variant> list;
  };

  /// Reads the manifest and the files that it names. What cannot be understood is left out, with a warning. A manifest
  /// is one of a package if it has `schema_version` and `components`, and if there is no `genai_config.json` beside it.
  /// Never asks for a name that leaves the package. Errors: those of `text_of`. Cost: O(bytes of the files), up to a
  /// limit.
  static Package read(const TextOf& text_of);
  /// Is none.
  Package() = default;

  /// False if the manifest is missing, or is not one of a package.
  [[nodiscard]] bool is_one() const noexcept { return is_one_; }
  [[nodiscard]] const std::vector<Component>& components() const noexcept { return components_; }
  /// The texts that were read, by name.
  [[nodiscard]] const std::map<std::string, std::string>& texts() const noexcept { return texts_; }
  [[nodiscard]] const std::vector<Finding>& warnings() const noexcept { return warnings_; }

  /// The files without the options that say where data is; only those that change.
  [[nodiscard]] std::map<std::string, std::string> without_data_folders() const;

 private:
  class Reading;

  bool is_one_ = false;
  std::vector<Component> components_;
  std::map<std::string, std::string> texts_;
  std::vector<Finding> warnings_;
};

/// The bytes to remove from a text so that an object no longer has the members for which `is_removed` returns true:
/// begin and end, without overlaps. A comma goes with each member.
std::map<std::size_t, std::size_t> ranges_of_members(const std::vector<base::JsonMember>& members,
                                                     const std::function<bool(const base::JsonMember&)>& is_removed);
/// `text` without these ranges.
std::string without_ranges(std::string text, const std::map<std::size_t, std::size_t>& ranges);

}  // namespace onnxar
