// The functions that do not throw: each gives what its throwing form gives, or the same error as a Failure.
#include <gtest/gtest.h>

#include <string>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

class NoExcept : public ::testing::Test {
 protected:
  void expect_failed(Code code, const std::string& entry = "", std::optional<std::uint64_t> offset = std::nullopt) {
    ASSERT_TRUE(failure_);
    ASSERT_EQ(failure_.cause(), Failure::Cause::error);
    EXPECT_EQ(failure_.code(), code);
    EXPECT_EQ(failure_.entry(), entry);
    EXPECT_EQ(failure_.offset(), offset);
    EXPECT_FALSE(failure_.message().empty());
  }

  Failure failure_;
  Built built_ = built_with({zip_entry("w", pattern(100))});
};

TEST_F(NoExcept, AGoodFileOpens) {
  const TempDir folder;
  const auto archive = Archive::open(folder.write_file("a", built_.bytes), failure_);
  ASSERT_TRUE(archive);
  EXPECT_FALSE(failure_);
  EXPECT_EQ(failure_.cause(), Failure::Cause::none);
  EXPECT_EQ(archive->size(), 2U);
}

TEST_F(NoExcept, FilesThatAreRefusedSayWhy) {
  const TempDir folder;
  EXPECT_FALSE(Archive::open(folder / "none", failure_));
  expect_failed(Code::io_not_found);
  EXPECT_EQ(failure_.error()->path(), folder / "none");
  const auto thrown =
      error_if_any([&] { return Archive::open(folder.write_file("cut", Bytes(built_.bytes).first(100))); });
  ASSERT_TRUE(thrown);
  EXPECT_FALSE(Archive::open(folder / "cut", failure_));
  expect_failed(thrown->code(), thrown->entry(), thrown->offset());
  EXPECT_EQ(std::string(failure_.error()->what()), thrown->what());
}

TEST_F(NoExcept, MemoryAndDescriptorsAreOpenedAndRefused) {
  EXPECT_TRUE(Archive::open(Bytes(built_.bytes), nullptr, failure_));
  EXPECT_FALSE(Archive::open(Bytes(), nullptr, failure_));
  expect_failed(Code::zip_end_missing, "", 0);
  EXPECT_FALSE(Archive::open(DescriptorRange{.descriptor = 0, .offset = 1}, failure_));
  expect_failed(Code::usage_argument);
}

TEST_F(NoExcept, TheNextCallForgetsTheFailureOfTheLast) {
  EXPECT_FALSE(Archive::open(Bytes(), nullptr, failure_));
  EXPECT_TRUE(failure_);
  EXPECT_TRUE(Archive::open(Bytes(built_.bytes), nullptr, failure_));
  EXPECT_FALSE(failure_);
}

TEST_F(NoExcept, EntriesAreFoundReadAndVerified) {
  const Archive archive = opened(built_.bytes);
  const ArchiveEntry entry = *archive.find("w");
  EXPECT_EQ(archive.locate(entry, failure_)->offset, built_.entry("w").data_offset);
  EXPECT_EQ(archive.bytes(entry, failure_)->data(), archive.bytes(entry).data());
  EXPECT_EQ(archive.model(failure_)->data(), archive.model().data());
  EXPECT_EQ(archive.resolve("w", 4, 8, failure_)->data(), archive.bytes(entry).data() + 4);
  EXPECT_TRUE(archive.verify(entry, failure_));
  Blob buffer(100);
  EXPECT_TRUE(read_entry(archive, entry, buffer, failure_));
  EXPECT_EQ(buffer, pattern(100));
  EXPECT_FALSE(failure_);
}

TEST_F(NoExcept, DamageIsReportedWithItsPlace) {
  const std::uint64_t at = built_.entry("w").data_offset;
  flip_bit(built_.bytes, at);
  const Archive archive = opened(built_.bytes);
  const ArchiveEntry entry = *archive.find("w");
  EXPECT_FALSE(archive.verify(entry, failure_));
  expect_failed(Code::zip_data_crc, "w", at);
  Blob buffer(100);
  EXPECT_FALSE(read_entry(archive, entry, buffer, failure_));
  expect_failed(Code::zip_data_crc, "w", at);
}

TEST_F(NoExcept, ABrokenLocalHeaderIsReportedWhereItIsUsed) {
  flip_bit(built_.bytes, built_.entry("w").header_offset);
  const Archive archive = opened(built_.bytes);
  const ArchiveEntry entry = *archive.find("w");
  EXPECT_FALSE(archive.locate(entry, failure_));
  EXPECT_TRUE(failure_);
  EXPECT_FALSE(archive.bytes(entry, failure_));
  EXPECT_TRUE(failure_);
}

TEST_F(NoExcept, LinksThatLeadNowhereAreRefused) {
  const Archive archive = opened(built_.bytes);
  EXPECT_FALSE(archive.resolve("v", 0, std::nullopt, failure_));
  expect_failed(Code::onnx_external_missing, "v");
  EXPECT_FALSE(archive.resolve("w", 101, std::nullopt, failure_));
  expect_failed(Code::onnx_external_out_of_range, "w", built_.entry("w").header_offset);
}

TEST_F(NoExcept, AForeignEntryIsRefused) {
  const Archive archive = opened(built_.bytes);
  EXPECT_FALSE(archive.bytes(ArchiveEntry(), failure_));
  expect_failed(Code::usage_foreign_entry);
}

}  // namespace
}  // namespace onnxar::testing
