#include "sink/publication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PublicationTest : public ::testing::Test {
 protected:
  [[nodiscard]] base::OutputFile file(std::string_view name, base::Existing existing = base::Existing::refuse) const {
    base::OutputFile made = base::OutputFile::create(folder_ / name, existing);
    made.write_at(0, blob("new"));
    return made;
  }

  TempDir folder_;
};

TEST_F(PublicationTest, FilesThatAreKeptStay) {
  base::OutputFile a = file("a"), b = file("b");
  {
    Publication publication(base::Existing::refuse, base::Sync::full);
    publication.publish(a);
    publication.publish(b);
    publication.sync_names();
    publication.keep();
  }
  EXPECT_THAT(folder_.file_names(), ElementsAre("a", "b"));
}

TEST_F(PublicationTest, FilesThatAreNotKeptLoseTheirNames) {
  base::OutputFile a = file("a");
  {
    Publication publication(base::Existing::refuse, base::Sync::none);
    publication.publish(a);
    EXPECT_THAT(folder_.file_names(), ElementsAre("a"));
  }
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(PublicationTest, AFileThatAppearedMeanwhileIsNotRemoved) {
  base::OutputFile a = file("a"), b = file("b");
  {
    Publication publication(base::Existing::refuse, base::Sync::none);
    publication.publish(a);
    folder_.write_file("b", "another's");
    EXPECT_EQ(code_of([&] { publication.publish(b); }), Code::output_exists);
  }
  EXPECT_THAT(visible_names(folder_), ElementsAre("b"));
  EXPECT_EQ(folder_.read_text("b"), "another's");
}

TEST_F(PublicationTest, FilesThatReplacedOthersStay) {
  folder_.write_file("a", "old");
  base::OutputFile a = file("a", base::Existing::replace);
  {
    Publication publication(base::Existing::replace, base::Sync::none);
    publication.publish(a);
  }
  EXPECT_EQ(folder_.read_text("a"), "new");
}

}  // namespace
}  // namespace onnxar::testing
