// Names that only POSIX systems give to files, and no location can have.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

TEST(MakeLink, NamesThatAreNotUtf8AreNoLocations) {
  const TempDir folder;
  const Built built = archive_of(model_of({linked_floats("w", 256, "w")}), {zip_entry("w", pattern(1024))});
  const std::filesystem::path path = folder.write_file("\xff.onnxar", built.bytes);
  const auto error = testing::error_of([&] { return make_link(path).model; });
  EXPECT_EQ(id(error.code()), "usage.argument");
  EXPECT_EQ(error.path(), std::filesystem::canonical(path));
}

}  // namespace
}  // namespace onnxar::testing
