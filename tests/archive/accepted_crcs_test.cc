// Archives whose writer stated a wrong CRC-32 of right data: what is said of them, and how they are mended.
#include "archive/accepted_crcs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/opened.h"
#include "archive/repacking.h"
#include "onnxar/archive_writer.h"
#include "zip/foreign_directory.h"

namespace onnxar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ZipBuilder builder_of_right_crcs() {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin() + 1, zip_entry("b", pattern(500, 3)));
  return builder;
}

/// An archive of `w` and `b` that states `crc` for `w`.
Built stating(std::uint32_t crc, std::string_view name = "w") {
  ZipBuilder builder = builder_of_right_crcs();
  builder.entry(name).in_both([=](HeaderFields& header) { header.crc = crc; });
  return builder.build_placed();
}

/// What a build without ISA-L stated where a source gave its bytes, then nothing at no address, then the rest.
std::uint32_t crc_of_end(std::size_t size) { return bitwise_crc32(Bytes(pattern(1024)).last(size)); }

RepackOptions accepting(std::vector<std::string> names) {
  RepackOptions options = quick();
  options.accept_crc = std::move(names);
  return options;
}

class AcceptCrcTest : public RepackTest {};

TEST_F(AcceptCrcTest, TheOutputStatesTheCrcThatTheDataHas) {
  EXPECT_EQ(repacked(stating(crc_of_end(24)).bytes, accepting({"w"})), builder_of_right_crcs().build());
  ASSERT_EQ(report_.remarks.size(), 1U);
  EXPECT_EQ(report_.remarks[0].severity, Severity::warning);
  EXPECT_EQ(report_.remarks[0].code, Code::zip_data_crc);
  EXPECT_EQ(report_.remarks[0].place.entry, "w");
}

TEST_F(AcceptCrcTest, SeveralEntriesAndTheModelMayBeNamedAndTwice) {
  Built built = stating(1, model_entry);
  put_u32(built.bytes, 14, 2);
  put_u32(built.bytes, built.entry("w").central_offset + 16, 2);
  EXPECT_EQ(repacked(built.bytes, accepting({"w", std::string(model_entry), "w"})), builder_of_right_crcs().build());
  EXPECT_EQ(report_.remarks.size(), 2U);
}

TEST_F(AcceptCrcTest, EveryOtherEntryIsVerifiedAsEver) {
  const Built built = stating(7, "b");
  Blob bytes = built.bytes;
  flip_bit(bytes, built.entry("w").data_offset);
  expect_refused(bytes, {Code::zip_data_crc, "w", built.entry("w").data_offset}, accepting({"b"}));
}

TEST_F(AcceptCrcTest, AnEntryThatIsNotThereIsRefusedInADryRunToo) {
  for (const bool dry_run : {false, true}) {
    RepackOptions options = accepting({"W"});
    options.output.dry_run = dry_run;
    expect_refused(stating(7).bytes, {Code::usage_no_such_entry, "", std::nullopt}, options);
  }
}

TEST_F(AcceptCrcTest, ACrcThatIsRightAlreadyIsSaidToBe) {
  const Built built = stating(7);
  for (const bool dry_run : {false, true}) {
    RepackOptions options = accepting({"w", "b"});
    options.output.dry_run = dry_run;
    const std::string told =
        expect_refused(built.bytes, {Code::usage_argument, "b", built.entry("b").data_offset}, options);
    EXPECT_THAT(told, HasSubstr("already right"));
  }
}

TEST_F(AcceptCrcTest, DeflatedDataMustInflateAllTheSame) {
  ZipBuilder builder =
      zip_of({plain_entry(deflated_entry("w", pattern(1000))), plain_entry(zip_entry("m.onnx", blob("m")))});
  builder.entry("w").in_both([](HeaderFields& header) { header.usize = 999; });
  const Built built = builder.build_placed();
  expect_refused(built.bytes, {Code::zip_data_inflate, "w", built.entry("w").data_offset}, accepting({"w"}));
}

TEST_F(AcceptCrcTest, ASumThatWasBegunAnewIsToldFromDamage) {
  const auto message_of = [](const Blob& bytes) {
    const Archive archive = opened(bytes);
    return std::string(error_if_any([&] { archive.verify(*archive.find("w")); })->what());
  };
  const auto begun_anew = [](std::size_t size) {
    return AllOf(HasSubstr("its last " + std::to_string(size) + " bytes"), HasSubstr("accept_crc of \"w\""));
  };
  for (const std::size_t size : {std::size_t{1023}, std::size_t{24}, std::size_t{0}}) {
    const Built built = stating(crc_of_end(size));
    EXPECT_THAT(message_of(built.bytes), begun_anew(size));
    EXPECT_THAT(expect_refused(built.bytes, {Code::zip_data_crc, "w", built.entry("w").data_offset}), begun_anew(size));
  }
  Built damaged = smallest_archive();
  flip_bit(damaged.bytes, damaged.entry("w").data_offset + 5);
  EXPECT_THAT(message_of(damaged.bytes), AllOf(HasSubstr("it was damaged"), Not(HasSubstr("accept_crc"))));
}

/// Hands out the first half, nothing at no address, and the second half.
class SourceWithAnEmptyPiece final : public ByteSource {
 public:
  explicit SourceWithAnEmptyPiece(const Blob& data) : data_(data) {}
  [[nodiscard]] std::uint64_t size() const override { return data_.size(); }
  void read(const ByteSink& sink) const override {
    sink(Bytes());
    sink(Bytes(data_).first(data_.size() / 2));
    sink(Bytes());
    sink(Bytes(data_).subspan(data_.size() / 2));
    sink(Bytes());
  }

 private:
  const Blob& data_;
};

// The builds without ISA-L, the wheel among them, once stated CRC 0 here.
TEST_F(AcceptCrcTest, ASourceWithEmptyPiecesIsWrittenWithItsTrueCrc) {
  const Blob data = pattern(1024);
  ArchiveWriter writer = ArchiveWriter::create(folder_ / "a");
  writer.add("w", SourceWithAnEmptyPiece(data));
  writer.finish(smallest_model());
  EXPECT_EQ(folder_.read_file("a"), smallest_archive().bytes);
}

TEST(AcceptedCrcs, HoldForTheBytesThatWereSummed) {
  ZipBuilder builder = zip_of({plain_entry(zip_entry("a", pattern(100))), plain_entry(zip_entry("b", pattern(50)))});
  builder.entry("a").in_both([](HeaderFields& header) { header.crc = 1U; });
  const Blob zip = builder.build();
  const auto directory = zip::ForeignDirectory::read(zip, {});
  RepackReport report;
  const std::vector<std::string> names = {"a"};
  const AcceptedCrcs accepted(zip, directory, names, report);
  const std::uint32_t crc = bitwise_crc32(pattern(100));
  EXPECT_TRUE(accepted.accepts(directory.entries()[0], crc));
  EXPECT_FALSE(accepted.accepts(directory.entries()[0], crc + 1)) << "the input changed after it was summed";
  EXPECT_FALSE(accepted.accepts(directory.entries()[1], crc));
}

}  // namespace
}  // namespace onnxar::testing
