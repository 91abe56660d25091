// Which faults zip tools cause, and which files may be foreign zips.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "archive/allocations.h"
#include "archive/evidence.h"
#include "archive/foreign_zip.h"
#include "support/samples.h"
#include "support/zip_builder.h"
#include "zip/foreign_directory.h"

namespace onnxar::testing {
namespace {

using ::testing::AnyOf;

TEST(ForeignFaults, RulesOfFormAreThoseThatZipToolsBreak) {
  for (const Code code : {Code::zip_entry_method, Code::zip_entry_descriptor, Code::zip_padding_alignment,
                          Code::zip_extra_unknown, Code::archive_model_not_last, Code::zip_name_device}) {
    EXPECT_THAT(hint_on(code), AnyOf(Hint::repack_plain_zip, Hint::pack_names_entries)) << id(code);
    EXPECT_TRUE(may_be_foreign_zip(code)) << id(code);
  }
  for (const Code code : {Code::zip_entry_overlap, Code::zip_data_crc, Code::io_not_found}) {
    EXPECT_EQ(hint_on(code), Hint::none) << id(code);
  }
  EXPECT_EQ(hint_on(Code::zip_end_missing), Hint::recover_cuts);
}

TEST(ForeignFaults, NamesThatOnlyArchivesRefuseAreForeign) {
  for (const Code code :
       {Code::zip_name_character, Code::zip_name_part_too_long, Code::zip_name_part_end, Code::zip_name_device}) {
    EXPECT_EQ(hint_on(code), Hint::pack_names_entries) << id(code);
  }
  EXPECT_EQ(hint_on(Code::zip_name_part), Hint::none);
  EXPECT_EQ(hint_on(Code::zip_name_duplicate), Hint::none);
}

TEST(ForeignFaults, DamagedDataDoesNotMakeAZipForeign) {
  for (const Code code : {Code::zip_data_crc, Code::archive_torn, Code::wire_truncated, Code::io_failed}) {
    EXPECT_FALSE(may_be_foreign_zip(code)) << id(code);
  }
  EXPECT_TRUE(may_be_foreign_zip(Code::archive_model_missing));
}

TEST(ForeignFaults, ReadDirectoryOfOtherZipOnce) {
  ZipBuilder builder;
  for (int i = 0; i < 2000; ++i)
    builder.entries.push_back(plain_entry(zip_entry("notes_" + std::to_string(i), blob("text"))));
  const Blob zip = builder.build();
  const std::size_t before = allocations_so_far();
  static_cast<void>(zip::ForeignDirectory::read(zip, {}));
  const std::size_t once = allocations_so_far() - before;
  for (const Code code : {Code::archive_model_missing, Code::zip_name_character}) {
    const Error fault(code, "sentence");
    const std::size_t begin = allocations_so_far();
    const Error hinted = Evidence{.file = ArchiveFile(zip)}(fault);
    // The error and its advice need as many again; a second reading would make it three times as many.
    EXPECT_LT(allocations_so_far() - begin, 5 * once / 2) << id(code);
    EXPECT_EQ(to_string(hinted.advice()), "this is a zip file without an ONNX model") << id(code);
  }
}

}  // namespace
}  // namespace onnxar::testing
