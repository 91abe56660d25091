// External data is read strictly: ambiguous or malformed pairs are refused.
#include "onnx/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "onnx/error_of.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using namespace std::string_literals;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint64_t place_of_tensor = 77;

/// The pairs of a tensor and the bytes that they are views of.
class ReadPairs {
 public:
  /// Already encoded: StringStringEntryProto, one after another.
  explicit ReadPairs(const Messages& entries) {
    std::vector<onnx::Range> ranges;
    for (const Message& entry : entries) {
      ranges.push_back({bytes_.size(), bytes_.size() + entry.size()});
      bytes_.insert(bytes_.end(), entry.view().begin(), entry.view().end());
    }
    for (const onnx::Range& range : ranges) data_.add(bytes_, range);
  }
  explicit ReadPairs(const Pairs& pairs) : ReadPairs(encoded(pairs)) {}

  [[nodiscard]] const onnx::ExternalData& data() const { return data_; }
  [[nodiscard]] onnx::ExternalSlice slice() const { return parse_external_data(data_, place_of_tensor); }

 private:
  static Messages encoded(const Pairs& pairs) {
    Messages entries;
    for (const auto& [key, value] : pairs) entries.push_back(string_entry(key, value));
    return entries;
  }

  Blob bytes_;
  onnx::ExternalData data_;
};

void expect_pairs_refused(const Pairs& pairs, Code code) {
  const ReadPairs read(pairs);
  expect_error(error_of([&read] { static_cast<void>(read.slice()); }),
               {.code = code, .entry = "", .offset = place_of_tensor});
}

TEST(ExternalData, ReadsLocationOffsetLengthAndChecksum) {
  const ReadPairs read({{"location", "w.bin"}, {"offset", "64"}, {"length", "4096"}, {"checksum", "abc"}});
  EXPECT_EQ(read.data().location, "w.bin");
  EXPECT_EQ(read.data().offset, "64");
  EXPECT_EQ(read.data().length, "4096");
  EXPECT_EQ(read.data().checksum, "abc");
  EXPECT_EQ(read.data().unknown_key, std::nullopt);
  EXPECT_EQ(read.slice().location, "w.bin");
  EXPECT_EQ(read.slice().offset, 64U);
  EXPECT_EQ(read.slice().length, 4096U);
}

TEST(ExternalData, DefaultsAreOffset0AndLengthToTheEnd) {
  const onnx::ExternalSlice slice = ReadPairs(Pairs{{"location", "w"}}).slice();
  EXPECT_EQ(slice.offset, 0U);
  EXPECT_EQ(slice.length, std::nullopt);
}

TEST(ExternalData, PlainDecimalNumbersUpTo64BitsAreRead) {
  const auto offset_of = [](const std::string& text) {
    return ReadPairs({{"location", "w"}, {"offset", text}}).slice();
  };
  EXPECT_EQ(offset_of("0").offset, 0U);
  EXPECT_EQ(offset_of("10").offset, 10U);
  EXPECT_EQ(offset_of("18446744073709551615").offset, 18446744073709551615U);
  EXPECT_EQ(ReadPairs({{"location", "w"}, {"length", "0"}}).slice().length, 0U);
}

// The vectors of spec/vectors have further ones.
TEST(ExternalData, AnyOtherNumberIsRefused) {
  for (const std::string& text : {"-0"s, "\t1"s, "1\n"s, "1\0"s, "0b1"s, "1,000"s, "1_000"s, "12a"s}) {
    SCOPED_TRACE(text);
    expect_pairs_refused({{"location", "w"}, {"offset", text}}, Code::onnx_external_bad_offset);
    expect_pairs_refused({{"location", "w"}, {"offset", "0"}, {"length", text}}, Code::onnx_external_bad_length);
  }
}

TEST(ExternalData, AMissingOrEmptyLocationIsRefused) {
  expect_pairs_refused({}, Code::onnx_external_no_location);
  expect_pairs_refused({{"location", ""}}, Code::onnx_external_no_location);
  expect_pairs_refused({{"offset", "0"}, {"length", "4"}}, Code::onnx_external_no_location);
  expect_pairs_refused({{"Location", "w"}}, Code::onnx_external_no_location);
}

TEST(ExternalData, UnknownKeysAreToleratedAndTheFirstIsKept) {
  const ReadPairs read({{"__class__", "x"}, {"location", "w"}, {"basepath", "/"}, {"basepath", "/"}});
  EXPECT_EQ(read.data().unknown_key, "__class__");
  EXPECT_EQ(read.slice().location, "w");
}

TEST(ExternalData, TheLastKeyAndValueOfAnEntryHold) {
  const Message entry = Message().string(2, "no").string(1, "offset").varint(1, 5).string(1, "location").string(2, "w");
  EXPECT_EQ(ReadPairs(Messages{entry}).data().location, "w");
  EXPECT_EQ(ReadPairs(Messages{entry}).data().offset, std::nullopt);
}

TEST(ExternalData, EntryWithoutKeyIsUnknownWithoutValueEmpty) {
  EXPECT_EQ(ReadPairs(Messages{Message().string(2, "w")}).data().unknown_key, "");
  EXPECT_EQ(ReadPairs(Messages{Message().string(1, "location")}).data().location, "");
}

TEST(ExternalData, ABrokenEntryIsRefused) {
  expect_error(error_of([] { const ReadPairs read(Messages{Message().claimed_length(1, 9).raw(blob("key"))}); }),
               {.code = Code::wire_truncated, .offset = 0U});
}

TEST(ExternalData, AddressesInMemoryAreRefused) {
  for (const std::string location :
       {"*/_ORT_MEM_ADDR_/*", "*/_ORT_NATIVE_ENDIAN_MEM_ADDR_/*", "*/_ORT_MEM_ADDR_/* and more", "#onnxar:1:2",
        "#onnxar:", "#onnxar:18446744073709551615:0"}) {
    expect_pairs_refused({{"location", location}}, Code::onnx_external_marker);
  }
}

TEST(ExternalData, NamesThatOnlyResembleAddressesAreNames) {
  for (const std::string location : {"#other", "_ORT_MEM_ADDR_", "onnxar:1:2", "a/*/_ORT_MEM_ADDR_/*"}) {
    EXPECT_EQ(ReadPairs(Pairs{{"location", location}}).slice().location, location);
  }
}

/// The fields of a link with these pairs, in this order.
std::string fields_of(const Pairs& pairs) {
  Message fields;
  for (const auto& [key, value] : pairs) fields.message(tensor_field::external_data, string_entry(key, value));
  return fields.varint(tensor_field::data_location, 1).str();
}

// They hold a checksum only if there is one.
TEST(ExternalDataFields, HoldAllPairsAndTheLocationType) {
  EXPECT_EQ(onnx::external_data_fields({"w", 64, 4096}),
            fields_of({{"location", "w"}, {"offset", "64"}, {"length", "4096"}}));
  EXPECT_EQ(onnx::external_data_fields({"w", 18446744073709551615U, 1}),
            fields_of({{"location", "w"}, {"offset", "18446744073709551615"}, {"length", "1"}}));
  EXPECT_EQ(onnx::external_data_fields({"w", 0, 0}), fields_of({{"location", "w"}, {"offset", "0"}, {"length", "0"}}));
  EXPECT_EQ(onnx::external_data_fields({"w", 0, 8, "ab"}),
            fields_of({{"location", "w"}, {"offset", "0"}, {"length", "8"}, {"checksum", "ab"}}));
}

TEST(MemoryLocation, LeadsBackToItsIndexInTheSameModelOnly) {
  const std::string location = onnx::memory_location(18446744073709551615U, 12);
  EXPECT_EQ(location, "#onnxar:18446744073709551615:12");
  EXPECT_EQ(onnx::parse_memory_location(location, 18446744073709551615U), 12U);
  EXPECT_EQ(onnx::parse_memory_location(location, 18446744073709551614U), std::nullopt);
  EXPECT_EQ(onnx::parse_memory_location(onnx::memory_location(0, 0), 0), 0U);
}

TEST(MemoryLocation, ReadsOnlyWhatItWrites) {
  for (const std::string location : {"", "w", "#onnxar:", "#onnxar:1", "#onnxar:1:", "#onnxar::2", "#onnxar:01:2",
                                     "#onnxar:1:02", "#onnxar:1:-2", "#onnxar:1:2 ", "#onnxar:1:2:3", "#ONNXAR:1:2"}) {
    EXPECT_EQ(onnx::parse_memory_location(location, 1), std::nullopt) << location;
  }
}

TEST(LengthOfASlice, IsTheStatedOneElseTheShapesElseTheRest) {
  EXPECT_EQ(onnx::length_in({"w", 4, 6}, 8, 12, "entry", place_of_tensor), 6U);
  EXPECT_EQ(onnx::length_in({"w", 4, std::nullopt}, 8, 12, "entry", place_of_tensor), 8U);
  EXPECT_EQ(onnx::length_in({"w", 4, std::nullopt}, std::nullopt, 13, "entry", place_of_tensor), 9U);
}

TEST(LengthOfASlice, IsRefusedWhereItLeavesTheHolder) {
  const auto error =
      error_of([] { return onnx::length_in({"w", 4, 9}, 8, 12, "data file", place_of_tensor, ": cut"); });
  EXPECT_EQ(error.code(), Code::onnx_external_out_of_range);
  EXPECT_EQ(error.offset(), place_of_tensor);
  EXPECT_EQ(error.message(), "offset 4 and length 9 leave the data file \"w\" of 12 bytes: cut");
}

TEST(LengthOfASlice, IsRefusedIfOnlyTheOffsetIsBeyondTheEnd) {
  const Error error = error_of([] { return onnx::length_in({"w", 13, {}}, {}, 12, "entry", place_of_tensor); });
  EXPECT_EQ(error.message(), "offset 13 leaves the entry \"w\" of 12 bytes");
}

TEST(MissingEntry, IsNamedWithItsHolder) {
  const Error error = error_of([] { onnx::refuse_missing("w", "the archive", place_of_tensor); });
  EXPECT_EQ(error.code(), Code::onnx_external_missing);
  EXPECT_EQ(error.message(), "it refers to \"w\", which is not an entry of the archive");
}

}  // namespace

}  // namespace onnxar::testing
