// Side files and graphs of an output: their names, sizes and folders.
#include "convert/companions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.h"
#include "support/zip_bytes.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SideFile side_file(const std::string& name, std::size_t size = 0) {
  return {name, payload_of(ByteSpan::own(pattern(size))).source};
}

/// A source that announces a size that no file has.
class Announced final : public ByteSource {
 public:
  explicit Announced(std::uint64_t size) : size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override { static_cast<void>(sink); }

 private:
  std::uint64_t size_;
};

/// `count` files of this size, each in a folder of its own.
std::vector<SideFile> in_folders(std::size_t count, std::size_t size = 0) {
  std::vector<SideFile> files;
  for (std::size_t i = 0; i < count; ++i) files.push_back(side_file(std::to_string(i) + "/a.txt", size));
  return files;
}

TEST(Companions, NamesBeginWithWeights) {
  ArchiveCompanions companions;
  companions.side_files = {side_file("a.txt")};
  companions.whole_graphs = {side_file("g.onnx")};
  companions.weights = {side_file("w")};
  EXPECT_THAT(companions.names(), ElementsAre("w", "a.txt", "g.onnx"));
  EXPECT_TRUE(companions.has_graphs());
  EXPECT_FALSE(ArchiveCompanions().has_graphs());
}

TEST(Companions, SumOfSizesNeverWraps) {
  EXPECT_EQ(size_of({side_file("a.txt", 5), side_file("b.txt", 7)}), 12U);
  const auto huge = std::make_shared<Announced>(UINT64_MAX);
  expect_error(error_if_any([&] { return size_of({{"a.txt", huge}, {"b.txt", huge}}); }),
               {.code = Code::usage_argument, .entry = "a.txt"});
}

TEST(CheckFolders, LimitCountsEachFolderOnce) {
  const auto refused = [](const std::vector<SideFile>& files) {
    return error_if_any([&] { check_folders(files, "out"); });
  };
  EXPECT_FALSE(refused(in_folders(4096)));
  const auto error = refused(in_folders(5000));
  expect_error(error, {.code = Code::zip_limit_folders, .path = "out", .hint = Hint::unpack_model_alone});
  EXPECT_THAT(error->message(), HasSubstr("5000 folders"));
  EXPECT_FALSE(refused(in_folders(5000, 1000))) << "larger files may have more";
  std::vector<SideFile> shared;
  for (int i = 0; i < 5000; ++i) shared.push_back(side_file("one/two/" + std::to_string(i) + ".txt"));
  EXPECT_FALSE(refused(shared));
}

TEST(CheckFolders, DeepNameIsNamedByTheError) {
  std::vector<SideFile> files = in_folders(4095);
  std::string deep;
  for (int i = 0; i < 400; ++i) deep += "z/";
  files.push_back(side_file(deep + "a.txt"));
  expect_error(error_if_any([&] { check_folders(files, "out"); }),
               {.code = Code::zip_limit_folders, .entry = deep + "a.txt"});
}

TEST(CheckFolders, RemarkIsAWarningWithoutAdvice) {
  EXPECT_FALSE(remark_on_folders(in_folders(10)));
  const auto finding = remark_on_folders(in_folders(5000));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_EQ(finding->code, Code::zip_limit_folders);
  EXPECT_EQ(finding->advice.hint, Hint::none);
}

}  // namespace
}  // namespace onnxar::testing
