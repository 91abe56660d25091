// Refuses names of files that entries of an archive cannot have, and proposes valid names.
#include "convert/entry_names.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "base/text.h"
#include "base/utf8.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/name_index.h"
#include "zip/names.h"

namespace onnxar {
namespace {

constexpr std::size_t most_listed = 20;
constexpr std::size_t longest_part = 200;  // bytes; leaves room for a number

/// Splits off the extension with its dot, because it identifies the kind of the file.
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  constexpr std::size_t longest_extension = 20;
  const std::size_t dot = name.rfind('.');
  const bool has_one = dot != std::string_view::npos && dot != 0 && name.size() - dot <= longest_extension &&
                       name.find('/', dot) == std::string_view::npos;
  return has_one ? std::pair(name.substr(0, dot), name.substr(dot)) : std::pair(name, std::string_view());
}

/// Returns a part of a name with `_` instead of each character that is not allowed.
std::string repaired_part(std::string_view part) {
  std::string repaired;
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t length = std::max<std::size_t>(base::utf8_sequence_length(part.substr(at)), 1);
    const std::string_view one = part.substr(at, length);
    repaired += zip::name_fault(base::concat("a", one, "a")) ? "_" : one;
    at += length;
  }
  repaired.erase(repaired.find_last_not_of(". ") + 1);
  const auto [stem, extension] = split(repaired);
  repaired = base::concat(stem.substr(0, longest_part), extension);
  if (repaired.empty()) repaired = "file";
  return zip::name_fault(repaired) ? "_" + repaired : repaired;  // a device of Windows
}

/// Returns a name like `name` that breaks no rule on its own.
std::string repaired_name(std::string_view name) {
  std::string repaired;
  for (const auto part : std::views::split(name, '/'))
    repaired += base::concat(repaired.empty() ? "" : "/", repaired_part({part.begin(), part.end()}));
  if (zip::name_fault(repaired)) repaired = repaired_part(name.substr(name.rfind('/') + 1));  // it is too long
  if (is_reserved_name(repaired)) repaired.insert(0, "_");
  return repaired + (is_key(repaired) ? ".txt" : "");
}

/// Collects the names of a planned archive, and the faults of names that it cannot have.
class PlannedNames {
 public:
  explicit PlannedNames(std::span<const std::string_view> names)
      : names_(names.begin(), names.end()), written_(names.size()) {}

  void add_proved(std::size_t index) {
    written_.add_proved(static_cast<std::uint32_t>(index), [this](std::uint32_t i) { return names_[i]; });
  }

  void add(std::size_t index) {
    try {
      prove(index);
    } catch (const Error& error) {
      faults_.push_back(error);
    }
  }

  /// Throws if any added name is not valid.
  void expect_none() {
    if (faults_.empty()) return;
    const Error first = faults_.front();
    std::string message = first.message(), proposals;
    const std::size_t listed = std::min(faults_.size(), most_listed);
    for (std::size_t i = 0; i < listed; ++i) {
      const std::string& name = faults_[i].entry();
      if (i != 0)
        message += base::concat("; the name ", base::quoted(name), " is also refused: ", faults_[i].message());
      if (name.find('=') != std::string::npos) continue;  // a rename cannot express it: OLD ends at the first `=`
      if (const auto other = free_name(name, faults_[i].code()))
        proposals += base::concat(proposals.empty() ? "" : ", ", escaped(name), "=", *other);
    }
    if (faults_.size() > listed) message += base::concat("; and ", faults_.size() - listed, " more names");
    const Advice advice = proposals.empty() ? Advice{} : Advice{Hint::rename_entries, proposals};
    if (proposals.empty()) message += "; rename the file, or leave it out";
    throw Error(first.code(), message, {first.entry(), std::nullopt}, {}, advice);
  }

 private:
  void prove(std::size_t index) {
    const std::string_view name = names_[index];
    const Place place{std::string(name), std::nullopt};
    check_reserved(name, place);
    if (is_key(name))
      throw Error(Code::usage_argument, "a side file cannot have this name: C identifiers are keys of tensors", place);
    written_.add(static_cast<std::uint32_t>(index), [this](std::uint32_t i) { return names_[i]; });
  }

  /// Returns a valid name like `name` that does not clash with any other, and reserves it; nothing if it finds none.
  std::optional<std::string> free_name(const std::string& name, Code fault) {
    constexpr int attempts = 100;
    const std::string repaired = repaired_name(name);
    const auto [stem, extension] = split(repaired);
    // If a file has the name of the folder, the folder gets the number.
    const std::size_t slash = fault == Code::zip_name_prefix ? repaired.find('/') : std::string::npos;
    for (int i = 1; i <= attempts; ++i) {
      proposed_.push_back(i == 1 ? repaired
                          : slash != std::string::npos
                              ? base::concat(repaired.substr(0, slash), "_", i, repaired.substr(slash))
                              : base::concat(stem, "_", i, extension));
      names_.emplace_back(proposed_.back());
      try {
        prove(names_.size() - 1);
        return proposed_.back();
      } catch (const Error&) {
        names_.pop_back();
      }
    }
    return std::nullopt;
  }

  std::vector<std::string_view> names_;
  std::deque<std::string> proposed_;  // the storage of proposed names in `names_`
  zip::WrittenNames written_;
  std::vector<Error> faults_;
};

}  // namespace

void check_entry_names(std::span<const std::string_view> names, std::size_t kept) {
  std::vector<std::string_view> all(names.begin(), names.end());
  all.push_back(model_entry_name);
  PlannedNames planned(all);
  for (std::size_t i = 0; i < kept; ++i) planned.add_proved(i);
  planned.add_proved(all.size() - 1);
  for (std::size_t i = kept; i + 1 < all.size(); ++i) planned.add(i);
  planned.expect_none();
}

}  // namespace onnxar
