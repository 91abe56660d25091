// The header that is being read, for error messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnxar/error.h"

namespace onnxar::zip {

/// Throws errors that name one header: `refuse(Code::zip_entry_flags, "...")`. The Place is built only when an error is
/// thrown: it owns a string, and a directory may have a million headers.
class HeaderContext {
 public:
  /// The header of the entry `name`, which begins at `offset` in the file.
  HeaderContext(std::string_view name, std::uint64_t offset) : name_(name), offset_(offset) {}

  [[noreturn]] void operator()(Code code, std::string_view message, Hint hint = Hint::none) const {
    throw Error(code, std::string(message), {std::string(name_), offset_}, {}, {hint});
  }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view name_;
  std::uint64_t offset_;
};

}  // namespace onnxar::zip
