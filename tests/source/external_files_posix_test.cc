// Data files that may not be read, and names that Windows does not have.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "source/external_files.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(ExternalFiles, AFileThatMayNotBeReadIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  const TempDir folder;
  const fs::path model = folder.write_file("m.onnx", "model");
  fs::permissions(folder.write_file("w.bin", "text"), fs::perms::none);
  ExternalFiles files(model, {});
  const Error error = error_of([&] { return files.resolve({"w.bin", 0, {}}, {}, 0); });
  EXPECT_EQ(error.code(), Code::io_permission);
  EXPECT_EQ(error.path(), folder / "w.bin");
}

TEST(ExternalFiles, NamesOfThreeDotsAreNamesAndLettersOfEitherCaseDiffer) {
  const TempDir folder;
  const fs::path model = folder.write_file("m.onnx", "model");
  folder.write_file("...", "text");
  folder.write_file("w.bin", "text");
  ExternalFiles files(model, {});
  EXPECT_EQ(files.resolve({"...", 0, {}}, {}, 0).bytes.size(), 4U);
  EXPECT_EQ(error_of([&] { return files.resolve({"W.BIN", 0, {}}, {}, 0); }).code(), Code::onnx_external_missing);
}

}  // namespace
}  // namespace onnxar::testing
