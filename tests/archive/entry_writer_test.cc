// What writing and editing have in common: kinds of sources, reserved names, the proof before the end.
#include "archive/entry_writer.h"

#include <gtest/gtest.h>

#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// An edit that counts how often the file is opened.
class CountingSteps final : public EditSteps {
 public:
  CountingSteps(std::filesystem::path target, int& opened) : target_(std::move(target)), opened_(opened) {}
  zip::Writer open(const os::File& /*lock*/) override {
    ++opened_;
    return zip::Writer({base::OutputFile::create(target_, base::Existing::refuse), false});
  }
  void prepare(std::string_view /*name*/, const std::function<zip::Writer&()>& /*writer*/) override {}
  [[nodiscard]] std::uint64_t max_model_size() const override { return ~std::uint64_t{0}; }

 private:
  std::filesystem::path target_;
  int& opened_;
};

/// Gives tests the state, which ArchiveWriter and ArchiveEditor hide.
class TestedWriter : public EntryWriter {
 public:
  explicit TestedWriter(detail::Owned<detail::EntryState> state) : EntryWriter(std::move(state)) {}
  using EntryWriter::state;
};

class EntryWriterTest : public ::testing::Test {
 protected:
  TestedWriter writer() {
    return TestedWriter(detail::own<detail::EntryState>(os::File(), std::make_unique<CountingSteps>(target_, opened_),
                                                        std::uint64_t{64}, target_));
  }

  TempDir folder_;
  std::filesystem::path target_ = folder_ / "a.onnxar";
  int opened_ = 0;
};

TEST_F(EntryWriterTest, OpensTheFileInTheFirstStepThatWrites) {
  TestedWriter entries = writer();
  entries.state().step([] {});
  EXPECT_EQ(opened_, 0);
  entries.add("w", SpanSource(as_bytes("data")));
  entries.add("v", SpanSource(as_bytes("more")));
  EXPECT_EQ(opened_, 1);
}

TEST_F(EntryWriterTest, AddsFromMemoryFilesAndStreams) {
  TestedWriter entries = writer();
  const auto file = folder_.write_file("f", "0123456789");
  entries.add("m", as_bytes("memory"));
  entries.add("f", FileRange(file, 2, 5));
  std::size_t left = 4;
  entries.add("s", 4, [&left](std::span<std::byte> buffer) {
    buffer[0] = std::byte{'s'};
    return left-- == 0 ? std::size_t{0} : std::size_t{1};
  });
  const Blob model = smallest_model();
  entries.state().finish(SpanSource(model), base::Sync::none, base::Sync::none, {.written = false});
  const Archive archive = Archive::open(target_);
  EXPECT_EQ(as_text(archive.bytes(*archive.find("m"))), "memory");
  EXPECT_EQ(as_text(archive.bytes(*archive.find("f"))), "23456");
  EXPECT_EQ(as_text(archive.bytes(*archive.find("s"))), "ssss");
  EXPECT_EQ(copy_of(archive.model()), model);
}

TEST_F(EntryWriterTest, RefusesReservedNamesAndRangesOutsideTheFile) {
  const auto file = folder_.write_file("f", "0123456789");
  const ErrorContext reserved{Code::archive_name_reserved, "__Meta", {}};
  EXPECT_EQ(refusal_of([&] { writer().add("__Meta", SpanSource(as_bytes("x"))); }), reserved);
  EXPECT_EQ(refusal_of([&] { writer().add("__Meta", FileRange(file, 2, 5)); }), reserved);
  EXPECT_EQ(refusal_of([&] { writer().add("__Meta", 1, [](std::span<std::byte>) { return std::size_t{1}; }); }),
            reserved);
  EXPECT_EQ(opened_, 0);
  EXPECT_EQ(refusal_of([&] { writer().add("w", FileRange(file, 5, 6)); }),
            (ErrorContext{Code::io_source_size, "w", {}}));
}

TEST_F(EntryWriterTest, WithoutAProofThatPassesNothingIsPublished) {
  TestedWriter entries = writer();
  entries.add("w", SpanSource(as_bytes("data")));
  entries.add("g.onnx", SpanSource(as_bytes("graph")));
  std::vector<std::string> proved;
  const Blob model = smallest_model();
  const auto prove = [&](std::string_view name, Bytes bytes) {
    proved.emplace_back(name);
    if (name != model_entry) return;
    EXPECT_EQ(copy_of(bytes), model);
    throw Error(Code::onnx_model_invalid, "no graph");
  };
  const auto finish = [&] {
    entries.state().finish(SpanSource(model), base::Sync::none, base::Sync::none, {false, prove});
  };
  EXPECT_EQ(refusal_of(finish)->code, Code::onnx_model_invalid);
  EXPECT_EQ(proved, (std::vector<std::string>{"g.onnx", std::string(model_entry)}));
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(EntryWriterTest, AModelThatProtobufCannotReadIsRefused) {
  TestedWriter entries = writer();
  entries.state().check_model_size(0x7fffffff);
  expect_error(error_if_any([&] { entries.state().check_model_size(0x80000000); }),
               {.code = Code::archive_model_too_large,
                .entry = model_entry,
                .path = target_,
                .says = {"protobuf reads less than 2 GiB"}});
}

}  // namespace
}  // namespace onnxar::testing
