// A new file gets its name in one step, and leaves no other name.
#include "base/output_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/folder.h"
#include "base/utf8.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::base {
namespace {

using onnxar::testing::code_of;
using onnxar::testing::TempDir;

OutputName name_in(const TempDir& folder, const std::string& name) {
  return OutputName({folder / name, Folder::open(folder.path()), name});
}

TEST(OutputName, ANewFileHasNoNameUntilItIsPublished) {
  const TempDir folder;
  OutputName name = name_in(folder, "a");
  os::File file = name.create();
  EXPECT_TRUE(testing::visible_names(folder).empty());
  name.publish(file, Existing::refuse);
  EXPECT_EQ(folder.file_names(), std::vector<std::string>{"a"});
  file = os::File();
  name.withdraw();
  EXPECT_TRUE(folder.file_names().empty());
}

TEST(OutputName, AHiddenNameIsRemovedUnlessTheFileIsPublished) {
  const TempDir folder;
  {
    OutputName name = name_in(folder, "a");
    const os::File file = name.create();
    name.hide(file);
    ASSERT_EQ(folder.file_names().size(), 1U);
    EXPECT_TRUE(folder.file_names()[0].starts_with(".a."));
    name.hide(file);  // it keeps the name that it has
    EXPECT_EQ(folder.file_names().size(), 1U);
  }
  EXPECT_TRUE(folder.file_names().empty());
}

TEST(OutputName, AHiddenNameIsNotCutWithinACharacter) {
  const TempDir folder;
  const std::string target = std::string(199, 'a') + "\xe6\xa8\xa1\xe5\x9e\x8b";
  OutputName name = name_in(folder, target);
  name.hide(name.create());
  const std::vector<std::string> names = folder.file_names();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(is_utf8(names[0]));
  EXPECT_TRUE(names[0].starts_with("." + std::string(199, 'a') + "."));
}

TEST(OutputName, OnlyReplacingTakesANameThatExists) {
  const TempDir folder;
  folder.write_file("a", "old");
  OutputName name = name_in(folder, "a");
  const os::File file = name.create();
  EXPECT_EQ(code_of([&] { name.publish(file, Existing::refuse); }), Code::output_exists);
  name.hide(file);
  name.publish(file, Existing::replace);
  EXPECT_EQ(folder.read_text("a"), "");
}

}  // namespace
}  // namespace onnxar::base
