// Limits, and calls of careless programs.
#include "reader/reading.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

std::string code_of_fault(const std::optional<ReaderFault>& fault) { return fault ? fault->code : ""; }

TEST(ReaderLimits, AreThoseOfTheCaller) {
  const Built built = smallest_archive();
  std::optional<ReaderFault> fault;
  onnxar_reader_options options = {};
  options.max_entries = 2;
  options.max_directory = built.directory_size;
  options.max_model = built.entry(model_entry).data_size;
  EXPECT_TRUE(opened(built.bytes, fault, options));
  for (std::uint64_t* limit : {&options.max_entries, &options.max_directory, &options.max_model}) --*limit;
  opened(built.bytes, fault, options);
  EXPECT_EQ(code_of_fault(fault), "zip.limit.entries");
  options.max_entries = 0;  // the default
  opened(built.bytes, fault, options);
  EXPECT_EQ(code_of_fault(fault), "zip.limit.directory");
  options.max_directory = 0;
  opened(built.bytes, fault, options);
  EXPECT_EQ(code_of_fault(fault), "archive.model.too_large");
  options.max_model = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(opened(built.bytes, fault, options));
}

TEST(ReaderCalls, AnErrorMayBeNull) {
  const Blob bytes = smallest_archive().bytes;
  onnxar_reader* archive = nullptr;
  EXPECT_EQ(onnxar_reader_open_memory(bytes.data(), bytes.size() - 1, nullptr, &archive, nullptr), -1);
  EXPECT_EQ(onnxar_reader_open("/no/such/file", nullptr, &archive, nullptr), -1);
  EXPECT_EQ(onnxar_reader_open_memory(bytes.data(), bytes.size(), nullptr, &archive, nullptr), 0);
  const Reader owner(archive);
  onnxar_reader_range range = {};
  onnxar_reader_walk* walk = nullptr;
  EXPECT_EQ(onnxar_reader_get_data(archive, 2, &range, nullptr), -1);
  EXPECT_EQ(onnxar_reader_walk_open(archive, 0, &walk, nullptr), -1);
  EXPECT_EQ(onnxar_reader_resolve(archive, "", 0, 0, nullptr, &range, nullptr), -1);
  EXPECT_EQ(onnxar_reader_check(archive, OAR_CHECK_DATA, nullptr), 0);
  EXPECT_EQ(onnxar_reader_verify(archive, 7, nullptr), -1);
}

TEST(ReaderCalls, ClosingNothingIsAllowed) {
  onnxar_reader_close(nullptr);
  onnxar_reader_walk_close(nullptr);
}

TEST(ReaderCalls, MisuseIsRefused) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  EXPECT_EQ(onnxar_reader_open_memory(nullptr, 1, nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "usage.argument");
  EXPECT_EQ(onnxar_reader_open_source(nullptr, nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "usage.argument");
  const onnxar_reader_source no_function = {1, nullptr, nullptr};
  EXPECT_EQ(onnxar_reader_open_source(&no_function, nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "usage.argument");
  onnxar_reader_options half = {};
  half.release = [](void* /*context*/, void* /*block*/) {};
  EXPECT_EQ(onnxar_reader_open_memory("", 0, &half, &archive, &error), -1);
  EXPECT_STREQ(error.code, "usage.argument");
  EXPECT_STREQ(error.rule, "");
  EXPECT_EQ(archive, nullptr);
}

TEST(ReaderCalls, NoBytesAreNoArchive) {
  std::optional<ReaderFault> fault;
  opened(Blob(), fault);
  EXPECT_EQ(fault, (ReaderFault{"zip.end.missing", "", 0}));
  const TempDir dir;
  dir.write_file("empty", Blob());
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  EXPECT_EQ(onnxar_reader_open((dir.path() / "empty").string().c_str(), nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "zip.end.missing");
}

TEST(ReaderCalls, PathsThatAreNotFilesAreRefused) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  EXPECT_EQ(onnxar_reader_open("/no/such/file", nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "io.not_found");
  const TempDir dir;
  dir.write_file("file", Blob());
  EXPECT_EQ(onnxar_reader_open((dir.path() / "file" / "x").string().c_str(), nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "io.not_found");
  EXPECT_EQ(onnxar_reader_open(dir.path().string().c_str(), nullptr, &archive, &error), -1);
  EXPECT_STRNE(error.code, "zip.end.missing");
  EXPECT_EQ(error.offset, OAR_NO_OFFSET);
}

TEST(ReaderCalls, PipesAreRefusedWithoutWaitingForAWriter) {
  const TempDir dir;
  if (!make_pipe(dir / "fifo")) GTEST_SKIP() << "folders of this system have no pipes";
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  EXPECT_EQ(onnxar_reader_open((dir / "fifo").string().c_str(), nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.code, "io.not_a_file");
}

TEST(ReaderCalls, IndicesBeyondTheLastAreRefused) {
  const Built built = smallest_archive();
  const Reader archive = opened(built.bytes);
  onnxar_reader_error error = {};
  onnxar_reader_entry entry = {};
  for (const std::size_t index : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_EQ(onnxar_reader_get_entry(archive.get(), index, &entry, &error), -1);
    EXPECT_STREQ(error.code, "usage.no_such_entry");
    EXPECT_EQ(onnxar_reader_is_graph(archive.get(), index), 0);
    EXPECT_EQ(onnxar_reader_verify(archive.get(), index, &error), -1);
    onnxar_reader_walk* walk = nullptr;
    EXPECT_EQ(onnxar_reader_walk_open(archive.get(), index, &walk, &error), -1);
    EXPECT_EQ(walk, nullptr);
  }
}

TEST(ReaderCalls, AWeightIsNotWalked) {
  const Built built = smallest_archive();
  const Reader archive = opened(built.bytes);
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_error error = {};
  EXPECT_EQ(onnxar_reader_walk_open(archive.get(), 0, &walk, &error), -1);
  EXPECT_STREQ(error.code, "usage.argument");
}

TEST(ReaderCalls, CopiesLieInTheFile) {
  const Built built = smallest_archive();
  const std::uint64_t size = built.bytes.size();
  for (const bool in_memory : {true, false}) {
    ByteSource source(built.bytes);
    std::optional<ReaderFault> fault;
    const Reader archive = in_memory ? opened(built.bytes) : opened(source, fault);
    Blob copy(16);
    EXPECT_EQ(onnxar_reader_copy(archive.get(), 3, copy.size(), copy.data(), nullptr), 0);
    EXPECT_TRUE(std::ranges::equal(copy, Bytes(built.bytes).subspan(3, 16)));
    EXPECT_EQ(onnxar_reader_copy(archive.get(), size, 0, nullptr, nullptr), 0);
    onnxar_reader_error error = {};
    EXPECT_EQ(onnxar_reader_copy(archive.get(), size - 15, 16, copy.data(), &error), -1);
    EXPECT_STREQ(error.code, "usage.argument");
    EXPECT_EQ(onnxar_reader_copy(archive.get(), OAR_NO_OFFSET, 1, copy.data(), &error), -1);
  }
}

TEST(ReaderErrors, AreOneLineThatATerminalCanShow) {
  ZipBuilder builder = smallest_builder();
  builder.entries[0].in_both([](auto& header) { header.name = "a\x1b[2J\n\"\xff"; });
  const Blob bytes = builder.build();
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  ASSERT_EQ(onnxar_reader_open_memory(bytes.data(), bytes.size(), nullptr, &archive, &error), -1);
  EXPECT_STREQ(error.rule, "N14");
  char line[OAR_MESSAGE_SIZE] = {};
  const std::string text = onnxar_reader_message(&error, &line[0], sizeof line);
  const std::string at = std::to_string(error.offset);
  EXPECT_EQ(text,
            "zip.name.character in \"a?[2J?\"?\" at " + at + ": the name has a character that tools treat differently");
  for (std::size_t room = 1; room <= text.size() + 1; ++room) {
    std::string cut(room, 'x');
    EXPECT_EQ(std::string(onnxar_reader_message(&error, cut.data(), room)), text.substr(0, room - 1));
  }
}

TEST(ReaderErrors, NameTheLocationThatNoEntryHas) {
  const Blob bytes = smallest_builder().build();
  const Reader archive = opened(bytes);
  onnxar_reader_range range = {};
  onnxar_reader_error error = {};
  char line[OAR_MESSAGE_SIZE] = {};
  ASSERT_EQ(onnxar_reader_resolve(archive.get(), "weights\n/w", 10, 0, nullptr, &range, &error), -1);
  EXPECT_STREQ(onnxar_reader_message(&error, &line[0], sizeof line),
               "onnx.external_data.missing: there is no entry of the name that the location states: \"weights?/w\"");
  const std::string longest(300, 'n');
  ASSERT_EQ(onnxar_reader_resolve(archive.get(), longest.data(), 300, 0, nullptr, &range, &error), -1);
  EXPECT_EQ(error.location, longest.substr(0, 255));
  ASSERT_EQ(onnxar_reader_resolve(archive.get(), "", 0, 0, nullptr, &range, &error), -1);
  EXPECT_STREQ(error.location, "");
}

TEST(ReaderErrors, TheLongestFits) {
  onnxar_reader_error error = {};
  error.code = "onnx.external_data.duplicate_key";
  error.sentence = "a dimension is negative, or there are too many dimensions, elements or bytes, or even more";
  error.entry_length = 65535;
  error.offset = OAR_NO_OFFSET - 1;
  std::ranges::fill(error.entry, 'n');
  std::ranges::fill_n(&error.location[0], sizeof error.location - 1, 'n');
  char line[OAR_MESSAGE_SIZE] = {};
  EXPECT_LT(std::string_view(onnxar_reader_message(&error, &line[0], sizeof line)).size(), sizeof line - 1);
}

TEST(ReaderLinks, AreResolvedByNameOffsetAndLength) {
  const Built built = smallest_archive();
  const Reader archive = opened(built.bytes);
  const PlacedEntry& entry = built.entries[0];
  onnxar_reader_range range = {};
  const auto code = [&](std::string_view name, std::uint64_t offset, std::optional<std::uint64_t> length) {
    onnxar_reader_error error = {};
    const int result = onnxar_reader_resolve(archive.get(), name.data(), name.size(), offset,
                                             length ? &*length : nullptr, &range, &error);
    return code_of_fault(fault_after(result, error));
  };
  EXPECT_EQ(code("w", 4, 8), "");
  EXPECT_EQ(range.offset, entry.data_offset + 4);
  EXPECT_EQ(range.size, 8U);
  EXPECT_EQ(range.data, built.bytes.data() + range.offset);
  EXPECT_EQ(code("w", 4, {}), "");
  EXPECT_EQ(range.size, entry.data_size - 4);
  EXPECT_EQ(code("w", entry.data_size, {}), "");
  EXPECT_EQ(range.size, 0U);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(code("w", entry.data_size + 1, {}), "onnx.external_data.out_of_range");
  EXPECT_EQ(code("w", 1, entry.data_size), "onnx.external_data.out_of_range");
  EXPECT_EQ(code("w", most, most), "onnx.external_data.out_of_range");
  EXPECT_EQ(code("w", 0, most), "onnx.external_data.out_of_range");
  EXPECT_EQ(code("W", 0, {}), "onnx.external_data.missing");
  EXPECT_EQ(code(std::string_view("w\0", 2), 0, {}), "onnx.external_data.missing");
  EXPECT_EQ(code("", 0, {}), "onnx.external_data.no_location");
  EXPECT_EQ(code(std::string(100'000, 'w'), 0, {}), "onnx.external_data.missing");
}

}  // namespace
}  // namespace onnxar::testing
