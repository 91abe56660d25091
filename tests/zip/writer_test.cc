// Writing archives: the bytes are those of an independent builder.
#include "zip/writer.h"

#include <gtest/gtest.h>

#include <utility>

#include "support/temp_dir.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// Says one size and hands out pieces of another.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::uint64_t size, std::vector<Blob> pieces) : size_(size), pieces_(std::move(pieces)) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override {
    for (const Blob& piece : pieces_) sink(piece);
  }

 private:
  std::uint64_t size_;
  std::vector<Blob> pieces_;
};

class WriterTest : public ::testing::Test {
 protected:
  void add(std::string_view name, const Blob& data) { writer_.add(name, alignment_, SpanSource(data)); }
  std::optional<ErrorContext> refusal_of_adding(std::string_view name, const ByteSource& source = SpanSource(Bytes())) {
    return refusal_of([&] { writer_.add(name, 64, source); });
  }
  /// Uses a separate writer, because a writer that failed does not add entries.
  std::optional<ErrorContext> refusal_of_another(std::string_view name, const ByteSource& source = SpanSource(Bytes()),
                                                 std::string_view first = "first") {
    zip::Writer other{base::BufferedOutput(base::OutputFile::create(folder_ / "b", base::Existing::refuse), false)};
    other.add(first, 64, SpanSource(Bytes()));
    return refusal_of([&] { other.add(name, 64, source); });
  }
  [[nodiscard]] std::filesystem::path another() const { return folder_ / "b"; }
  Blob finish() {
    std::move(writer_).finish().publish(base::Sync::none);
    return folder_.read_file("a");
  }
  void use_alignment(std::size_t alignment) { alignment_ = alignment; }

 private:
  std::size_t alignment_ = 64;
  TempDir folder_;
  zip::Writer writer_{base::BufferedOutput(base::OutputFile::create(folder_ / "a", base::Existing::refuse), false)};
};

TEST_F(WriterTest, SmallestArchiveIsTheBuilders) {
  const Built built = smallest_archive();
  add("w", built.data_of("w"));
  add(model_entry, built.data_of(model_entry));
  EXPECT_EQ(finish(), built.bytes);
}

TEST_F(WriterTest, ArchiveOfManyKindsIsTheBuilders) {
  ZipBuilder builder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{70000}, mebibyte - 1,
                                 mebibyte, mebibyte + 1, 3 * mebibyte + 7}) {
    builder.entries.push_back(zip_entry("entry_of_" + std::to_string(size), pattern(size, 3)));
  }
  builder.entries.push_back(zip_entry("folder/a b.txt", blob("text")));
  builder.entries.push_back(zip_entry(model_entry, smallest_model()));
  for (const ZipEntry& entry : builder.entries) add(entry.name, entry.data);
  EXPECT_TRUE(finish() == builder.build());
}

TEST_F(WriterTest, LargerAlignmentIsTheBuilders) {
  use_alignment(32768);
  ZipBuilder builder = smallest_builder();
  builder.alignment = 32768;
  for (const ZipEntry& entry : builder.entries) add(entry.name, entry.data);
  EXPECT_TRUE(finish() == builder.build());
}

TEST_F(WriterTest, ManyEntriesAreTheBuilders) {
  ZipBuilder builder;
  for (int i = 0; i < 65536; ++i) builder.entries.push_back(zip_entry("e" + std::to_string(i), {}));
  for (const ZipEntry& entry : builder.entries) add(entry.name, entry.data);
  EXPECT_TRUE(finish() == builder.build());
}

TEST_F(WriterTest, PiecesOfASourceMayBeOfAnySize) {
  const Blob data = pattern(2 * mebibyte + 100);
  const PieceSource source(data.size(), {part(data, 0, 1), {}, part(data, 1, 70000), part(data, 70000, data.size())});
  EXPECT_EQ(refusal_of([&] { return source.size(); }), std::nullopt);
  ZipBuilder builder;
  builder.entries.push_back(zip_entry("w", data));
  EXPECT_EQ(refusal_of_adding("w", source), std::nullopt);
  EXPECT_TRUE(finish() == builder.build());
}

TEST_F(WriterTest, RefusesSourceOfAnotherSize) {
  for (const PieceSource& source :
       {PieceSource(101, {pattern(100)}), PieceSource(1, {}), PieceSource(99, {pattern(100)}),
        PieceSource(100, {pattern(50), pattern(50), pattern(1)})}) {
    EXPECT_EQ(refusal_of_another("w", source), (ErrorContext{Code::io_source_size, "w"})) << source.size();
  }
}

TEST_F(WriterTest, EntriesHaveTwoToThe60BytesAtMost) {
  constexpr std::uint64_t limit = 1ULL << 60U;
  EXPECT_EQ(refusal_of_another("w", PieceSource(limit, {})), (ErrorContext{Code::io_source_size, "w"}));
  for (const std::uint64_t size : {limit + 1, 2 * limit}) {
    EXPECT_EQ(refusal_of_another("w", PieceSource(size, {})), (ErrorContext{Code::usage_argument, "w"}));
  }
}

TEST_F(WriterTest, NamesBreakNoRule) {
  EXPECT_EQ(refusal_of_another("a;1"), (ErrorContext{Code::zip_name_character, "a;1"}));
  EXPECT_EQ(refusal_of_another("../w"), (ErrorContext{Code::zip_name_part, "../w"}));
}

TEST_F(WriterTest, NamesThatClashAreRefused) {
  struct Case {
    std::string_view first, second;
    Code code;
  };
  for (const auto& [first, second, code] :
       {Case{"w", "w", Code::zip_name_duplicate}, Case{"Weight", "wEIGHT", Code::zip_name_folded},
        Case{"a/b", "A/B/c", Code::zip_name_prefix}, Case{"x/y/z", "X/y", Code::zip_name_prefix}}) {
    EXPECT_EQ(refusal_of_another(second, SpanSource(Bytes()), first), (ErrorContext{code, std::string(second)}));
  }
}

TEST_F(WriterTest, AnEntryThatReadersWouldRefuseIsNotEvenRead) {
  const auto refused = [this](const zip::Limits& limits) {
    zip::Writer limited{base::BufferedOutput(base::OutputFile::create(another(), base::Existing::refuse), false), 1,
                        limits};
    limited.add("a", 64, SpanSource(Bytes()));
    limited.add("b", 64, SpanSource(Bytes()));
    const PieceSource liar(1, {});
    return refusal_of([&] { limited.add("c", 64, liar); });
  };
  const std::uint64_t third = std::uint64_t{2} * 64;
  EXPECT_EQ(refused({.entries = 2}), (ErrorContext{Code::zip_limit_entries, "", third}));
  EXPECT_EQ(refused({.directory_size = std::uint64_t{3} * 47 - 1}),
            (ErrorContext{Code::zip_limit_directory, "", third}));
  EXPECT_EQ(refused({.entries = 3, .directory_size = std::uint64_t{3} * 47}),
            (ErrorContext{Code::io_source_size, "c"}));
}

TEST_F(WriterTest, NamesBesideEachOtherAreFine) {
  add("a/b", {});
  add("a/c", {});
  add("ab", {});
  EXPECT_EQ(refusal_of_adding("a/bc"), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
