// Tests sources that are whole files.
#include "convert/whole_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "onnxar/error.h"
#include "support/temp_dir.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] std::shared_ptr<const ByteSource> source() const {
    return whole_file(
        [path = path_] { return std::make_shared<const base::MappedFile>(base::MappedFile::open(path)); });
  }

  [[nodiscard]] static std::string read(const ByteSource& source) {
    std::string text;
    source.read([&](Bytes bytes) { text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); });
    return text;
  }

  void expect_changed(const ByteSource& source) {
    try {
      static_cast<void>(read(source));
      FAIL() << "the change was not noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::io_changed);
      EXPECT_EQ(error.path(), path_);
    }
  }

  testing::TempDir folder_;
  std::string text_ = std::string(GetParam(), 'x');
  fs::path path_ = folder_.write_file("file", text_);
};

TEST_P(WholeFileTest, ReadsTheFile) {
  const auto file = source();
  EXPECT_EQ(file->size(), text_.size());
  EXPECT_EQ(read(*file), text_);
}

TEST_P(WholeFileTest, RefusesFileThatGrew) {
  const auto file = source();
  std::ofstream(path_, std::ios::app) << "more";
  expect_changed(*file);
}

TEST_P(WholeFileTest, RefusesFileThatGrowsWhileItIsRead) {
  const auto file = source();
  const auto grow = [&](Bytes) { std::ofstream(path_, std::ios::app) << "more"; };
  EXPECT_THROW(file->read(grow), Error);
}

// A large file stays mapped, and a small one is opened again.
TEST_P(WholeFileTest, NeverReadsAReplacedFile) {
  const auto file = source();
  folder_.write_file("other", std::string(GetParam(), 'y'));
  fs::rename(folder_ / "other", path_);
  if (GetParam() < (1U << 20U)) return expect_changed(*file);
  EXPECT_EQ(read(*file), text_);
}

INSTANTIATE_TEST_SUITE_P(Sizes, WholeFileTest, ::testing::Values(1000, 2U << 20U));

}  // namespace
}  // namespace onnxar
