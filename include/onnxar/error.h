// Errors and findings: what is wrong, where, and what to do.
//
// The library never prints and never ends the process. It throws one exception type, `onnxar::Error`; `check` returns a
// list of `Finding`. Both carry a code (error_codes.inc) and may carry a hint (error_hints.inc). The ids of codes and
// hints are stable. Threads: all functions here may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
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

/// The id of an advice: what to do. Each front end has its own words for every hint: the command line names options, a
/// program sets members.
enum class Hint : std::uint8_t {
  none,
#define ONNXAR_HINT(identifier, id, words) identifier,
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

/// The stable id, such as "zip.entry.overlap"; "unknown" for a number without a code.
[[nodiscard]] std::string_view id(Code code) noexcept;
/// The kind of a code; Kind::usage for a number without a code.
[[nodiscard]] Kind kind(Code code) noexcept;
/// The stable id, such as "output.overwrite"; empty for Hint::none and for a number without a hint.
[[nodiscard]] std::string_view id(Hint hint) noexcept;

enum class Severity : std::uint8_t { error, warning, note };
/// `error`, `warning` or `note`; `error` for any other number.
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// A hint and the value that its words mention.
struct Advice {
  Hint hint = Hint::none;
  std::string value = {};  ///< a name or a number, ready to be printed; empty for most hints
};

/// The advice in words of the C++ interface (error_hints.inc); empty for Hint::none.
[[nodiscard]] std::string to_string(const Advice& advice);
/// `words` with each `{}` replaced by the value: for front ends that have their own table of words.
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

/// `error[zip.entry.overlap] entry "a" at 0x40: MESSAGE; ADVICE`, on one line, control characters escaped.
[[nodiscard]] std::string to_string(const Finding& finding);
/// As above, with `advice` as the words for the advice; without any if it is empty.
[[nodiscard]] std::string to_string(const Finding& finding, std::string_view advice);

/// The exception of this library. Besides it, only std::bad_alloc and exceptions of callbacks leave a function.
/// `what()` is one line: path, entry, offset, message, advice.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, Place place = {}, std::filesystem::path path = {}, Advice advice = {});

  [[nodiscard]] Code code() const noexcept { return code_; }
  /// The file in question; empty for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& entry() const noexcept { return place_.entry; }
  [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return place_.offset; }
  /// The sentence that says what is wrong, without place and advice.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const Advice& advice() const noexcept { return advice_; }
  /// `what()` with `advice` as the words for the advice; without any if it is empty.
  [[nodiscard]] std::string line(std::string_view advice) const;

  /// A copy that names `path`, unless the error names a path already: inner layers know bytes, outer ones files.
  [[nodiscard]] Error with_path(const std::filesystem::path& path) const;
  [[nodiscard]] Finding finding() const { return {Severity::error, code_, place_, message_, advice_}; }

 private:
  Code code_;
  Place place_;
  std::string message_;
  std::filesystem::path path_;
  Advice advice_;
};

/// The reason why a function that does not throw failed, for programs that are built without exceptions.
///
/// Functions that take a `Failure&` are noexcept. They clear it first. If they fail, they set it and return an empty
/// optional or false. Copies share one account of the failure, so copying does not throw either. Threads: as for a
/// std::shared_ptr.
class Failure {
 public:
  enum class Cause : std::uint8_t {
    none,       ///< the function succeeded
    error,      ///< an onnxar::Error
    no_memory,  ///< std::bad_alloc
    other,      ///< an exception of another type, from the standard library or a callback
  };

  Failure() noexcept = default;
  /// The failure that represents the exception being handled. Call it in a handler.
  static Failure of_current_exception() noexcept;

  /// Whether the function failed.
  explicit operator bool() const noexcept { return cause_ != Cause::none; }
  [[nodiscard]] Cause cause() const noexcept { return cause_; }
  /// The code of the Error; absent for other causes.
  [[nodiscard]] std::optional<Code> code() const noexcept;
  /// As Error has them; empty or absent if they do not apply. Views are valid as long as a copy of the Failure exists.
  [[nodiscard]] std::string_view entry() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept;
  /// The sentence that says what is wrong; empty without a failure.
  [[nodiscard]] std::string_view message() const noexcept;
  /// The whole Error; null for other causes.
  [[nodiscard]] const Error* error() const noexcept { return cause_ == Cause::error ? account_.get() : nullptr; }

 private:
  Failure(Cause cause, std::shared_ptr<const Error> account) noexcept;

  Cause cause_ = Cause::none;
  std::shared_ptr<const Error> account_;  // of Cause::other, its text only
};

namespace detail {
/// Throws usage.argument, from headers that are also compiled without exceptions.
[[noreturn]] void throw_usage_error(const char* message);
}  // namespace detail

/// A name from a file as printable ASCII, safe to print on a terminal: `\\` for a backslash, `\x1b` for a control
/// character or a byte that is not UTF-8, `\u202e` and `\U0001f600` for characters beyond ASCII. Different names look
/// different, however the terminal treats direction, width and combining characters.
[[nodiscard]] std::string escaped(std::string_view text);

/// A path that the user gave, safe to print on a terminal: like `escaped`, except that visible, well-formed UTF-8 that
/// does not turn text is kept, and `\` where it separates parts. A path too long is cut, and its length is added.
[[nodiscard]] std::string escaped_path(const std::filesystem::path& path);

}  // namespace ONNXAR_API onnxar
