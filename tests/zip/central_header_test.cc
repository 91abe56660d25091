// One header of the directory at a time. The vectors of spec/vectors show each refusal; here are values between theirs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

TEST(CentralHeader, ReadsTheEntry) {
  const Built built = smallest_archive();
  const PlacedEntry& model = built.entry(model_entry);
  const Bytes rest = Bytes(built.bytes).subspan(model.central_offset);
  zip::DirectoryEntry entry;
  EXPECT_EQ(zip::read_central_header(rest, model.central_offset, entry), model.central_size);
  EXPECT_EQ(entry.name, model_entry);
  EXPECT_EQ(entry.size, model.data_size);
  EXPECT_EQ(entry.header_offset, model.header_offset);
  EXPECT_EQ(entry.central_offset, model.central_offset);
  EXPECT_EQ(entry.crc32, bitwise_crc32(built.data_of(model_entry)));
  EXPECT_FALSE(entry.unneeded_zip64);
}

/// The code for this change of `w`'s directory header, which has to name that header.
template <typename Change>
std::optional<Code> code_of_central(const Change& change) {
  const Built built = changed_entry([&](ZipEntry& w) { change(w.central); });
  const auto refusal = refusal_of_directory(built.bytes);
  if (!refusal) return std::nullopt;
  EXPECT_EQ(*refusal, in_directory(refusal->code, built, "w"));
  return refusal->code;
}

TEST(CentralHeader, RefusesOtherValuesOfFixedFields) {
  for (const std::uint16_t method : std::vector<std::uint16_t>{1, 12, 93}) {
    EXPECT_EQ(code_of_central([=](CentralFields& c) { c.method = method; }), Code::zip_entry_method) << method;
  }
  for (const std::uint16_t host : std::vector<std::uint16_t>{6, 19}) {
    const auto maker = static_cast<std::uint16_t>((unsigned{host} << 8U) | 10U);
    EXPECT_EQ(code_of_central([=](CentralFields& c) { c.version_made_by = maker; }), Code::zip_entry_attributes);
  }
  for (const std::uint16_t internal : std::vector<std::uint16_t>{4, 0x8001, 0xFFFF}) {
    EXPECT_EQ(code_of_central([=](CentralFields& c) { c.internal_attributes = internal; }), Code::zip_entry_attributes);
  }
  const std::uint32_t file_and_folder = (0100644U << 16U) | 0x10U;
  EXPECT_EQ(code_of_central([=](CentralFields& c) { c.external_attributes = file_and_folder; }),
            Code::zip_entry_attributes);
}

TEST(CentralHeader, OneByteOfExtraFieldsIsRefused) {
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.extra = Blob(1); }), Code::zip_extra_malformed);
}

TEST(CentralHeader, AlignmentMayBeRepeated) {
  for (const std::uint16_t alignment : std::vector<std::uint16_t>{64, 128, 4096, 16384}) {
    Blob record = extra_record(0xA11E, Blob(2));
    put_u16(record, 4, alignment);
    const Built built = changed_entry([&](ZipEntry& w) { w.central.extra = record; });
    EXPECT_EQ(zip::Directory::read(built.bytes, {}).entries()[0].alignment, alignment);
  }
  EXPECT_EQ(zip::Directory::read(smallest_archive().bytes, {}).entries()[0].alignment, 0U);
}

}  // namespace
}  // namespace onnxar::testing
