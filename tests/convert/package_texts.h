// Model packages whose files are texts in memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "convert/package.h"

namespace onnxar::testing {

/// The files of a package in memory. Notes what is asked for.
class PackageFiles {
 public:
  explicit PackageFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  [[nodiscard]] Package::TextOf reader() {
    return [this](const std::string& name) -> std::optional<std::string> {
      asked_.insert(name);
      const auto found = files_.find(name);
      return found == files_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  Package read() { return Package::read(reader()); }
  [[nodiscard]] const std::set<std::string>& asked() const { return asked_; }

 private:
  std::map<std::string, std::string> files_;
  std::set<std::string> asked_;
};

inline Package read_manifest(std::string text) { return PackageFiles({{"manifest.json", std::move(text)}}).read(); }

inline std::string manifest_of(std::string_view components, std::string_view more = "") {
  return R"({"schema_version": "1.0", "components": )" + std::string(components) + std::string(more) + "}";
}

}  // namespace onnxar::testing
