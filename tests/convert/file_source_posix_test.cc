// Data files that may not be read, and names that Windows does not have.
#include <gtest/gtest.h>

#include <filesystem>

#include "convert/external_files.h"
#include "convert/open.h"
#include "support/posix/child_process.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(ExternalFiles, AFileThatMayNotBeReadIsNamed) {
  const TempDir folder;
  folder.write_file("m.onnx", "model");
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder.write_file("w.bin", "text"), fs::perms::none);
  EXPECT_EQ(in_child([&] {
              fs::current_path(folder.path());  // the folders above may be closed to that user
              return as_ordinary_user([] {
                ExternalFiles files("m.onnx", {});
                const Error error = error_of([&] { return files.resolve({"w.bin", 0, {}}, {}, 0); });
                return error.code() == Code::io_permission && error.path().filename() == "w.bin" ? child_passed : 2;
              });
            }),
            child_passed);
}

TEST(ExternalFiles, NamesMayBeThreeDotsAndAreCaseSensitive) {
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
