// Folders with links between them, and what is read through base::open_beneath.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/beneath.h"
#include "base/mapped_file.h"
#include "os/error.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {

inline std::string text_at(const std::filesystem::path& folder, const std::filesystem::path& second,
                           const std::filesystem::path& relative) {
  std::error_code failed;
  const os::File file = base::open_beneath(folder, second, relative, failed);
  EXPECT_EQ(file.valid(), !failed);
  if (failed) {
    const os::Reason reason = os::reason_of(failed);
    return reason == os::Reason::outside ? "outside" : (reason == os::Reason::not_found ? "missing" : "refused");
  }
  const auto mapping = base::MappedFile::map(file, relative);
  return std::string(as_text(mapping.bytes()));
}

/// in/a, in/sub/b, out/secret, and links between them.
struct Folders {
  Folders() {
    dir.write_file("in/a", "a");
    dir.write_file("in/sub/b", "b");
    dir.write_file("out/secret", "secret");
    dir.write_file("inside/c", "c");  // its path begins with that of `in`
    if (can_make_symlinks()) make_links();
  }

  void make_links() const {
    link("a", "in/to_a");
    link("sub/../a", "in/round_to_a");
    link("sub", "in/to_sub");
    link("../../in/a", "in/sub/out_and_in");
    link("../out/secret", "in/leaves");
    link("../out", "in/leaves_by_folder");
    link(dir / "out/secret", "in/absolute");
    link(dir / "in/a", "in/absolute_to_inside");
    link("nowhere", "in/dangling");
    link("../nowhere", "in/leaves_to_nothing");
  }

  void link(const std::filesystem::path& target, std::string_view name) const { make_symlink(target, dir / name); }
  [[nodiscard]] std::filesystem::path real(std::string_view name) const {
    return std::filesystem::canonical(dir.path()) / name;
  }
  [[nodiscard]] std::string open(const std::filesystem::path& relative) const {
    return text_at(real("in"), real("in"), relative);
  }
  [[nodiscard]] std::string open_with_cache(const std::filesystem::path& relative) const {
    return text_at(real("in"), real("out"), relative);
  }

  TempDir dir;
};

}  // namespace onnxar::testing
