// Which faults zip tools cause, and which files may be foreign zips.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "archive/allocations.h"
#include "archive/file_kind.h"
#include "support/samples.h"
#include "support/zip_builder.h"
#include "zip/foreign_directory.h"

namespace onnxar::testing {
namespace {

TEST(ForeignFaults, RulesOfFormAreThoseThatZipToolsBreak) {
  for (const Code code : {Code::zip_entry_method, Code::zip_entry_descriptor, Code::zip_padding_alignment,
                          Code::zip_extra_unknown, Code::archive_model_not_last, Code::zip_name_device}) {
    EXPECT_TRUE(is_foreign_fault(code)) << id(code);
    EXPECT_TRUE(may_be_foreign_zip(code)) << id(code);
  }
  for (const Code code : {Code::zip_end_missing, Code::zip_entry_overlap, Code::zip_data_crc, Code::io_not_found}) {
    EXPECT_FALSE(is_foreign_fault(code)) << id(code);
  }
}

TEST(ForeignFaults, NamesThatOnlyArchivesRefuseAreForeign) {
  for (const Code code :
       {Code::zip_name_character, Code::zip_name_part_too_long, Code::zip_name_part_end, Code::zip_name_device}) {
    EXPECT_TRUE(is_portable_name_fault(code)) << id(code);
    EXPECT_TRUE(is_foreign_fault(code)) << id(code);
  }
  EXPECT_FALSE(is_portable_name_fault(Code::zip_name_part));
  EXPECT_FALSE(is_portable_name_fault(Code::zip_name_duplicate));
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
    const Error hinted = with_foreign_hint(fault, ArchiveFile(zip));
    EXPECT_LT(allocations_so_far() - begin, 2 * once) << id(code);
    EXPECT_EQ(to_string(hinted.advice()), "this is a zip file without an ONNX model") << id(code);
  }
}

}  // namespace
}  // namespace onnxar::testing
