// Tests reading weights from .npz files.
#include "model/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/npy.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

/// A `.npy` of version 1 or 2 with this description.
Blob npy(std::string_view description, const Blob& data, char version = 1) {
  std::string text = "\x93NUMPY";
  text += {version, '\0', static_cast<char>(description.size()), '\0'};
  if (version > 1) text += {'\0', '\0'};
  text += description;
  Blob file(as_bytes(text).begin(), as_bytes(text).end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

constexpr std::string_view two_floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

std::optional<Code> code_of_npy(std::string_view description, std::size_t size) {
  const Blob file = npy(description, pattern(size));
  return code_of([&] { return parse_npy(file); });
}

TEST(ParseNpy, ReadsTypeShapeAndDataInBothVersions) {
  for (const char version : {'\1', '\2'}) {
    const Blob file = npy("{\"shape\": (2, 3), 'fortran_order': False, 'descr': '|u1'}", pattern(6), version);
    const NpyArray array = parse_npy(file);
    EXPECT_EQ(array.descr, "|u1");
    EXPECT_THAT(array.dims, ElementsAre(2, 3));
    EXPECT_EQ(Blob(array.data.begin(), array.data.end()), pattern(6));
    EXPECT_EQ(array.data.data(), file.data() + file.size() - 6);
  }
}

TEST(ParseNpy, DamageIsRefused) {
  EXPECT_EQ(code_of_npy(two_floats, 8), std::nullopt);
  EXPECT_EQ(code_of_npy(two_floats, 7), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy(two_floats, 9), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'fortran_order': False}", 4), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'shape': (-1,)}", 4), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'shape': (1,), 'more': 1}", 4), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f8', 'shape': (4294967296, 4294967296)}", 4), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'shape': (2,), 'shape': (3,)}", 24), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'shape': (2,)} }", 8), Code::numpy_array_malformed);
  EXPECT_EQ(code_of_npy("{'descr': 'xf4', 'shape': (2,)}", 8), Code::numpy_array_malformed);
  Blob cut = npy(two_floats, {});
  cut.resize(cut.size() - 1);
  EXPECT_EQ(code_of([&] { return parse_npy(cut); }), Code::numpy_array_malformed);
  EXPECT_EQ(code_of([] { return parse_npy(as_bytes("\x93NUMP")); }), Code::numpy_array_malformed);
}

TEST(ParseNpy, FormsThatNoTensorHasAreRefused) {
  EXPECT_EQ(code_of_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", 8), Code::numpy_array_unsupported);
  EXPECT_EQ(code_of_npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8), Code::numpy_array_unsupported);
  EXPECT_EQ(code_of_npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8), Code::numpy_array_unsupported);
  EXPECT_EQ(code_of_npy("{'descr': [('a', '<f4')], 'shape': (1,)}", 4), Code::numpy_array_unsupported);
  const Blob later = npy(two_floats, pattern(8), 4);
  EXPECT_EQ(code_of([&] { return parse_npy(later); }), Code::numpy_array_unsupported);
}

class NpzFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] NpzFile open(std::vector<ZipEntry> entries, std::uint64_t max_expansion = 8) const {
    folder_.write_file("w.npz", Bytes(ZipBuilder{.entries = std::move(entries)}.build()));
    return NpzFile::open(OpenedInput(path_), folder_.path(), max_expansion);
  }

  TempDir folder_;
  std::filesystem::path path_ = folder_ / "w.npz";
};

TEST_F(NpzFileTest, StoredAndDeflatedArraysAreRead) {
  const Blob file = npy(two_floats, pattern(8));
  NpzFile npz = open({zip_entry("a.npy", file), deflated_entry("b.npy", file), zip_entry("notes.txt", pattern(3))});
  EXPECT_THAT(npz.names(), ElementsAre("a", "b"));
  EXPECT_FALSE(npz.contains("notes"));
  for (const std::string name : {"a", "b", "b"}) {
    const NpzFile::Array array = npz.read(name);
    EXPECT_THAT(array.dims, ElementsAre(2));
    EXPECT_EQ(Blob(array.data.bytes().begin(), array.data.bytes().end()), pattern(8));
  }
}

TEST_F(NpzFileTest, AnArrayOutlivesItsFile) {
  ByteSpan data;
  {
    NpzFile npz = open({zip_entry("a.npy", npy(two_floats, pattern(8)))});
    data = npz.read("a").data;
  }
  EXPECT_EQ(Blob(data.bytes().begin(), data.bytes().end()), pattern(8));
}

TEST_F(NpzFileTest, ErrorsNameTheArray) {
  ZipEntry damaged = zip_entry("a.npy", npy(two_floats, pattern(8)));
  damaged.in_both([](HeaderFields& header) { header.crc = 1; });
  NpzFile npz = open({damaged, zip_entry("b.npy", pattern(100))});
  EXPECT_EQ(code_of([&] { return npz.read("c"); }), Code::usage_no_such_tensor);
  for (const auto& [name, code] : {std::pair("a", Code::zip_data_crc), std::pair("b", Code::numpy_array_malformed)}) {
    expect_error(error_if_any([&] { return npz.read(name); }),
                 {.code = code, .entry = name + std::string(".npy"), .path = path_});
  }
}

TEST_F(NpzFileTest, ArraysOfOneNameAreRefused) {
  const std::vector<ZipEntry> twice(2, zip_entry("a.npy", npy(two_floats, pattern(8))));
  expect_error(error_if_any([&] { static_cast<void>(open(twice)); }),
               {.code = Code::zip_name_duplicate, .entry = "a.npy", .path = path_});
}

// Each array counts once.
TEST_F(NpzFileTest, OnlyDeflatedArraysCountTowardsTheLimit) {
  const auto stating_3000_bytes = [](std::string_view name) {
    return deflated_entry(name, zeros(10)).in_both([](HeaderFields& header) { header.usize = 3000; });
  };
  const Blob stored = npy("{'descr': '|u1', 'shape': (3000,)}", pattern(3000));
  NpzFile npz = open({zip_entry("a.npy", stored), stating_3000_bytes("b.npy"), stating_3000_bytes("c.npy")}, 1);
  EXPECT_EQ(code_of([&] { return npz.read("a"); }), std::nullopt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(code_of([&] { return npz.read("b"); }), Code::zip_data_inflate) << "it is within the limit";
    EXPECT_EQ(code_of([&] { return npz.read("c"); }), Code::zip_limit_expansion);
  }
}

TEST_F(NpzFileTest, ReportsFileThatChangesDuringReading) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const Blob file = npy(two_floats, pattern(8));
  NpzFile npz = open({zip_entry("a.npy", file), deflated_entry("b.npy", file)});
  folder_.write_file("w.npz", pattern(100'000));
  for (const std::string name : {"a", "b"}) {
    expect_error(error_if_any([&] { return npz.read(name); }), {.code = Code::io_changed, .path = path_});
  }
}

TEST_F(NpzFileTest, OnlyAZipOfArraysIsOne) {
  const Blob file = npy(two_floats, pattern(8));
  const auto is_one = [this](const Blob& bytes) {
    return NpzFile::is_one(OpenedInput(folder_.write_file("a", Bytes(bytes))));
  };
  EXPECT_TRUE(is_one(ZipBuilder{.entries = {zip_entry("a.npy", file)}}.build()));
  EXPECT_FALSE(is_one(ZipBuilder{.entries = {zip_entry("a.npy", file), zip_entry("b", file)}}.build()));
  EXPECT_FALSE(is_one(file));
}

}  // namespace
}  // namespace onnxar::testing
