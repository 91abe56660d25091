// Errors and findings: what is wrong, where, and what to do.
//
//   try {
//     onnxar::Archive::open("model.onnxar");
//   } catch (const onnxar::Error& error) {
//     std::cerr << error.what() << '\n';  // path, entry, offset, message, advice
//     if (error.code() == onnxar::Code::archive_busy) std::cerr << "try again\n";
//   }
//
// The library never prints and never ends the process. Ids of codes (error_codes.inc) and hints (error_hints.inc) are
// stable. In all headers, `io.* (.changed: why)` means any code that begins with `io.`; io.changed in the case `why`.
// Threads: all functions may be called concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

enum class Code : std::uint16_t {
#define ONNXAR_CODE(identifier, id, kind) identifier,
#include "onnxar/error_codes.inc"
#undef ONNXAR_CODE
};

/// Identifies what to do. Each front end has its own words for it: a program sets members, the command names options.
enum class Hint : std::uint8_t {
  none,
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) identifier,
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
};

/// Where the cause of an error lies.
enum class Kind : std::uint8_t {
  usage,   ///< in the call: a wrong argument, an output that exists
  io,      ///< in the machine: a missing file, a permission, a full disk
  format,  ///< in the bytes: broken or unsupported input
  remark,  ///< nothing is broken: only used for warnings and notes, never thrown
};

enum class Severity : std::uint8_t { error, warning, note };

// Return stable ids: "zip.entry.overlap", "output.overwrite", "warning". For a number outside its enumeration they
// return "unknown", usage, "" and "error".
[[nodiscard]] std::string_view id(Code code) noexcept;
[[nodiscard]] Kind kind(Code code) noexcept;
[[nodiscard]] std::string_view id(Hint hint) noexcept;
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// True if the advice identifies the file's real type. It is then printed before the message.
[[nodiscard]] bool tells_kind(Hint hint) noexcept;

/// A hint and the value that its words mention.
struct Advice {
  Hint hint = Hint::none;
  std::string value = {};  ///< a name or a number, ready to be printed; empty for most hints
};

/// Returns the advice in words of the C++ interface (error_hints.inc); empty for Hint::none.
[[nodiscard]] std::string to_string(const Advice& advice);
/// Returns `words` with each `{}` replaced by the value, for front ends with their own words.
[[nodiscard]] std::string filled(std::string_view words, const Advice& advice);

/// A place in a file. Each part is empty when it does not apply.
struct Place {
  std::string entry;                    ///< entry name, or site path of a tensor (`graph.initializer[3]`)
  std::optional<std::uint64_t> offset;  ///< absolute offset in the file
};

/// One result of `check`.
struct Finding {
  Severity severity = Severity::error;
  Code code = Code::usage_argument;
  Place place;
  std::string message;  ///< one sentence: what is wrong
  Advice advice = {};   ///< what to do
};

/// Returns `error[zip.entry.overlap] entry "a" at 0x40: MESSAGE; ADVICE`, on one line, with control characters escaped.
[[nodiscard]] std::string to_string(const Finding& finding);
/// Works like the function above, but prints `advice` in place of the library's advice; nothing if it is empty.
[[nodiscard]] std::string to_string(const Finding& finding, std::string_view advice);

/// The only exception of this library, besides std::bad_alloc and exceptions of callbacks. `what()` is one line.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, Place place = {}, std::filesystem::path path = {}, Advice advice = {});

  [[nodiscard]] Code code() const noexcept { return code_; }
  /// Returns the path of the file; empty for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& entry() const noexcept { return place_.entry; }
  [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return place_.offset; }
  /// Returns what is wrong, in one sentence, without place and advice.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const Advice& advice() const noexcept { return advice_; }
  /// Returns `what()` with `advice` in place of the library's advice; without any if it is empty.
  [[nodiscard]] std::string line(std::string_view advice) const;

  /// Returns a copy that names `path`, unless the error already names one: inner layers see only bytes.
  [[nodiscard]] Error with_path(const std::filesystem::path& path) const;
  [[nodiscard]] Finding finding() const { return {Severity::error, code_, place_, message_, advice_}; }

 private:
  Code code_;
  Place place_;
  std::string message_;
  std::filesystem::path path_;
  Advice advice_;
};

/// Returns a name from a file as printable ASCII, safe on a terminal: `\\` for a backslash, `\x1b` for a control
/// character or a byte that is not UTF-8, `\u202e` and `\U0001f600` beyond ASCII. Different names look different.
[[nodiscard]] std::string escaped(std::string_view text);
/// Returns a path of the user, safe on a terminal. Keeps well-formed UTF-8 that is visible and does not reverse text,
/// and `\` as a separator; escapes the rest like `escaped`. Cuts a path that is too long, and appends its length.
[[nodiscard]] std::string escaped_path(const std::filesystem::path& path);

}  // namespace ONNXAR_API onnxar
