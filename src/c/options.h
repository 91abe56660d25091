// Checks the options of verbs, and converts them to structs of C++.
#pragma once

#include <cstdint>
#include <string>

#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "onnxar/onnxar_c.h"
#include "onnxar/options.h"

namespace onnxar::c {

/// One bit for each verb, so that a set of verbs is a number.
enum class Verb : std::uint32_t {
  pack = 1,
  unpack = 2,
  check = 4,
  repack = 8,
  replace = 16,
  undo = 32,
  recover = 64,
  link = 128,
  extract = 256,
};

/// The options of a caller. Every option that is set applies to the verb. Keeps the caller's pointers, so it is valid
/// only during the call.
class VerbOptions {
 public:
  /// Throws usage.argument (the struct's size; a member that the verb does not take).
  VerbOptions(const onnxar_options* given, Verb verb);

  [[nodiscard]] LoadOptions load() const;
  [[nodiscard]] SaveOptions save() const;  ///< of pack and unpack
  [[nodiscard]] CheckOptions check() const;
  [[nodiscard]] RepackOptions repack() const;
  [[nodiscard]] ReplaceOptions replace() const;
  [[nodiscard]] LinkOptions link() const;
  [[nodiscard]] ExtractOptions extract() const;
  [[nodiscard]] OutputOptions output() const;  ///< of all except check

 private:
  [[nodiscard]] std::vector<AddedFile> added_files() const;
  [[nodiscard]] ProgressCallback progress() const;
  [[nodiscard]] std::string graph() const;  ///< empty: none was named

  onnxar_options given_;
  Verb verb_;
};

}  // namespace onnxar::c
