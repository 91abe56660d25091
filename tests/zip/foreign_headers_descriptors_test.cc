// Zip files of any maker whose entries were streamed: what is before the data, and the descriptors after it.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

TEST(ForeignDescriptors, NumbersInFrontAreZeroOrTheDirectorys) {
  const auto refused = [](Code code, const auto& change) {
    const Built built = changed([&](ZipBuilder& b) {
      b.entries[1] = plain_entry(streamed_entry("a", pattern(100, 1)));
      change(b.entries[1].local);
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(code, built, "a"));
  };
  refused(Code::zip_local_size, [](LocalFields& local) { local.usize = 99; });
  refused(Code::zip_local_size, [](LocalFields& local) { local.csize = 99; });
  refused(Code::zip_local_field, [](LocalFields& local) { local.crc = 1U; });
}

/// A zip whose last entry `b` is streamed, with these bytes after its data.
Built ending_in_descriptor(const Blob& descriptor) {
  return changed([&](ZipBuilder& b) {
    b.entries[2] = plain_entry(streamed_entry("b", pattern(200, 2)));
    b.entries[2].gap_after = descriptor;
  });
}

/// The descriptor of that entry, with sizes of `width` bytes.
Blob descriptor_of_b(bool with_signature, std::size_t width) {
  Blob out(with_signature ? 4 : 0);
  if (with_signature) put_u32(out, 0, signature::descriptor);
  const std::size_t head = out.size();
  out.resize(head + 4 + 2 * width);
  put_u32(out, head, bitwise_crc32(pattern(200, 2)));
  put_u32(out, head + 4, 200);
  put_u32(out, head + 4 + width, 200);
  return out;
}

void expect_descriptor_refused(const Blob& descriptor) {
  SCOPED_TRACE(descriptor.size());
  const Built built = ending_in_descriptor(descriptor);
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "b"));
}

TEST(ForeignDescriptors, ADescriptorMayEndAtTheDirectoryOrTheNextEntry) {
  for (const bool with_signature : {true, false}) {
    for (const std::size_t width : {4U, 8U}) {
      Built built = ending_in_descriptor(descriptor_of_b(with_signature, width));
      expect_read(built);
      built = changed([&](ZipBuilder& b) {
        b.entries.insert(b.entries.begin() + 2, plain_entry(streamed_entry("b", pattern(200, 2))));
        b.entries[2].gap_after = descriptor_of_b(with_signature, width);
        b.entries[3].in_both([](HeaderFields& h) { h.name = "c"; });
      });
      EXPECT_THAT(names_in(built.bytes), ::testing::ElementsAre(model_entry, "a", "b", "c"));
    }
  }
}

TEST(ForeignDescriptors, ADescriptorThatRunsIntoTheDirectoryIsRefused) {
  for (const bool with_signature : {true, false}) {
    for (const std::size_t width : {4U, 8U}) {
      Blob whole = descriptor_of_b(with_signature, width);
      while (!whole.empty()) {
        whole.pop_back();
        expect_descriptor_refused(whole);
      }
    }
  }
}

// The directory's first byte is `P`, so a reader that runs on by one byte finds a size of 0x50 and three bytes more.
TEST(ForeignDescriptors, RefusesDescriptorWithATruncatedSize) {
  constexpr std::uint32_t size = 0x50000000;
  const Blob data(size / 1032 + 1);
  for (const bool with_signature : {true, false}) {
    const Built built = changed([&](ZipBuilder& b) {
      ZipEntry entry = plain_entry(streamed_entry("b", data, with_signature));
      entry.in_both([](HeaderFields& header) { header.method = std::uint16_t{8}; });
      entry.central.usize = size;
      put_u32(entry.gap_after, entry.gap_after.size() - 4, size);
      entry.gap_after.pop_back();
      b.entries[2] = entry;
    });
    EXPECT_EQ(refusal_of([&] { return zip::ForeignDirectory::read(built.bytes, {}).offset(); }),
              at_header(Code::zip_entry_descriptor, built, "b"));
  }
}

TEST(ForeignDescriptors, RefusesOtherSignatureBeforeADescriptor) {
  Blob descriptor = descriptor_of_b(true, 4);
  put_u32(descriptor, 0, signature::descriptor + 1);
  expect_descriptor_refused(descriptor);
}

TEST(ForeignDescriptors, EachNumberIsThatOfTheDirectory) {
  struct Case {
    std::size_t width;
    std::vector<std::size_t> flips;
  };
  for (const auto& [width, flips] : {Case{4, {4, 8, 12}}, Case{8, {4, 8, 12, 16, 20, 23}}}) {
    for (const std::size_t at : flips) {
      SCOPED_TRACE(at);
      Blob descriptor = descriptor_of_b(true, width);
      flip_bit(descriptor, at);
      expect_descriptor_refused(descriptor);
    }
  }
}

TEST(ForeignDescriptors, NoneBeforeAnotherEntryIsRefused) {
  const Built built = changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(streamed_entry("a", pattern(100, 1)));
    b.entries[1].gap_after.clear();
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "a"));
}

}  // namespace
}  // namespace onnxar::testing
