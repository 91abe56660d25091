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
/// The file name of ONNX Runtime GenAI's configuration. A folder with this file is not a package.
inline constexpr std::string_view genai_config_name = "genai_config.json";
/// The session option that names the folder of external data.
inline constexpr std::string_view data_folder_option = "session.model_external_initializers_file_folder_path";

/// Returns the last member of an object with this key, which is the one that counts; null if there is no such member.
const base::JsonMember* member_named(const std::vector<base::JsonMember>& members, std::string_view key);

/// Returns the folder of a name in a package, without `/` at its end; empty for a name in the root.
std::string_view folder_in_package(std::string_view name) noexcept;

/// Describes a package. Names in it are paths in its folder, with `/`, without `.` and `..`. Immutable.
class Package {
 public:
  /// The maximum number of bytes of all files of a package. Real packages have a few kilobytes.
  static constexpr std::size_t most_bytes = 16U << 20U;
  /// Returns the bytes of a file of the package by its name; nothing if there is no such file. May stop one byte over
  /// the limit.
  using TextOf = std::function<std::optional<std::string>(const std::string& name)>;

  /// Locates a value in one of the files of the package.
  struct At {
    std::string file;
    base::JsonValue value;
  };
  struct Variant {
    std::string name;
    At body;
    std::string ep = {}, device = {}, compatibility = {};  ///< empty if not stated
    std::string graph = {};                                ///< name of the model's file; empty if none is named
    std::string folder = {};                               ///< its paths are relative to it; empty: the package's
    std::optional<At> executor = {};                       ///< the object for ONNX Runtime
    /// The folder in which ONNX Runtime looks for the data of the graph; empty if beside the graph.
    std::optional<std::string> data_folder = {};
    std::optional<At> session_options = {};  ///< the object with the option for this folder
  };
  struct Component {
    std::string name;
    std::string folder;  ///< the folder that contains the variants' folders; empty for the package's
    At variants;         ///< the object with the variants
    std::vector<Variant> list;
  };

  /// Reads the manifest and the files that it names. Skips values that it does not understand, with a warning. A
  /// manifest is that of a package if it has `schema_version` and `components`, and if there is no `genai_config.json`
  /// beside it. Never asks for a name that leaves the package. Throws what `text_of` throws. Cost: O(bytes of the
  /// files), up to a limit.
  static Package read(const TextOf& text_of);
  /// Makes an object that is not a package.
  Package() = default;

  /// False if the manifest is missing, or is not that of a package.
  [[nodiscard]] bool is_one() const noexcept { return is_one_; }
  [[nodiscard]] const std::vector<Component>& components() const noexcept { return components_; }
  /// Returns the texts that were read, by name.
  [[nodiscard]] const std::map<std::string, std::string>& texts() const noexcept { return texts_; }
  [[nodiscard]] const std::vector<Finding>& warnings() const noexcept { return warnings_; }

  /// Returns the files that change when the options that state where data is are removed.
  [[nodiscard]] std::map<std::string, std::string> without_data_folders() const;

 private:
  class Reading;

  bool is_one_ = false;
  std::vector<Component> components_;
  std::map<std::string, std::string> texts_;
  std::vector<Finding> warnings_;
};

/// Returns the edits after which an object no longer has the members for which `is_removed` returns true. They include
/// a comma for each member.
base::TextEdits without_members(const std::vector<base::JsonMember>& members,
                                const std::function<bool(const base::JsonMember&)>& is_removed);

}  // namespace onnxar
