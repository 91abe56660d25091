// SHA-1 is compared with sha1sum.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/sha1.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

std::string sha1_of(Bytes bytes) {
  base::Sha1 sum;
  sum.update(bytes);
  return std::move(sum).hex();
}

std::string sha1sum(const std::filesystem::path& file) {
  const std::string command = "sha1sum '" + file.string() + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
  std::array<char, 41> digits{};
  if (!out || std::fgets(digits.data(), digits.size(), out.get()) == nullptr) throw std::runtime_error(command);
  return digits.data();
}

// Around 56 and 64 bytes the padding moves to another block.
TEST(Sha1, AgreesWithSha1sumAtEverySizeUpToThreeBlocks) {
  const TempDir folder;
  for (std::size_t size = 0; size <= std::size_t{3} * 64; ++size) {
    const Blob bytes = pattern(size, 7);
    EXPECT_EQ(sha1_of(bytes), sha1sum(folder.write_file("f", bytes))) << size;
  }
}

}  // namespace
}  // namespace onnxar::testing
