// Headers of zip files of any maker: what has more than one reading is refused, at its place.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

TEST(ForeignHeaders, VersionsAbove45AreRefused) {
  for (const std::uint16_t version : {std::uint16_t{46}, std::uint16_t{63}, std::uint16_t{0x0314}}) {
    const Built central = changed_a([=](ZipEntry& e) { e.central.version_needed = version; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_entry_version, central, "a")) << version;
    const Built local = changed_a([=](ZipEntry& e) { e.local.version_needed = version; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_entry_version, local, "a")) << version;
  }
}

TEST(ForeignHeaders, FlagsThatDifferBetweenTheHeadersAreRefused) {
  for (const std::uint16_t flags : {std::uint16_t{0x0002}, std::uint16_t{0x0008}, std::uint16_t{0x0802}}) {
    const Built local = changed_a([=](ZipEntry& e) { e.local.flags = flags; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_local_field, local, "a")) << flags;
    const Built central = changed_a([=](ZipEntry& e) { e.central.flags = flags; });
    EXPECT_EQ(refusal_of_zip(central.bytes), at_header(Code::zip_local_field, central, "a")) << flags;
  }
}

TEST(ForeignHeaders, Utf8FlagMayDifferWhereTheNameIsAscii) {
  const auto change = [](const char* name, bool in_local) {
    return changed_a([=](ZipEntry& e) {
      e.in_both([name](HeaderFields& h) {
        h.name = name;
        h.flags = std::uint16_t{0};
      });
      (in_local ? static_cast<HeaderFields&>(e.local) : e.central).flags = std::uint16_t{0x800};
    });
  };
  for (const bool in_local : {false, true}) {
    EXPECT_EQ(refusal_of_zip(change("a", in_local).bytes), std::nullopt);
    const Built other = change("gr\xc3\xb6\xc3\x9f", in_local);
    EXPECT_EQ(refusal_of_zip(other.bytes),
              (ErrorContext{Code::zip_local_field, "gr\xc3\xb6\xc3\x9f", other.entry("a").header_offset}));
  }
}

TEST(ForeignHeaders, EncryptionIsRefused) {
  for (const std::uint16_t flags : std::vector<std::uint16_t>{0x0001, 0x0041, 0x2000}) {
    const Built central = changed_a([=](ZipEntry& e) { e.central.flags = flags; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_entry_encrypted, central, "a"));
    const Built local = changed_a([=](ZipEntry& e) { e.local.flags = flags; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_entry_encrypted, local, "a"));
  }
  const Built patch = changed_a([](ZipEntry& e) { e.central.flags = std::uint16_t{0x20}; });
  EXPECT_EQ(refusal_of_zip(patch.bytes), in_directory(Code::zip_entry_flags, patch, "a"));
}

TEST(ForeignHeaders, OtherMethodsAreRefused) {
  for (const std::uint16_t method : std::vector<std::uint16_t>{1, 6, 9, 12, 14, 93, 95, 99}) {
    const Built built = changed_a([=](ZipEntry& e) { e.in_both([=](HeaderFields& h) { h.method = method; }); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_method, built, "a")) << method;
  }
}

TEST(ForeignHeaders, LinksAndDevicesAreRefused) {
  for (const std::uint32_t mode : {0120777U, 0060644U, 0010644U, 0140644U, 0040755U}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.external_attributes = mode << 16U; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << mode;
  }
}

TEST(ForeignHeaders, ALinkOfAnyHostIsRefused) {
  for (const std::uint16_t host : {std::uint16_t{0}, std::uint16_t{3}, std::uint16_t{10}, std::uint16_t{19}}) {
    for (const std::uint32_t attributes : {0120777U << 16U, 0100644U << 16U | 0x400U, 0x400U}) {
      const Built built = changed_a([=](ZipEntry& e) {
        e.central.version_made_by = static_cast<std::uint16_t>(std::uint32_t{host} << 8U | 20U);
        e.central.external_attributes = attributes;
      });
      EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << attributes;
    }
  }
}

TEST(ForeignHeaders, AFileThatIsMarkedAsAFolderOrAVolumeIsRefused) {
  for (const std::uint32_t attributes : {0x10U, 0x08U, 0x18U, 0100644U << 16U | 0x10U}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.external_attributes = attributes; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << attributes;
  }
}

// 7-Zip reads setuid without setgid as a folder if the host is Amiga, and drops the bytes.
TEST(ForeignHeaders, AFileThatIsAFolderOnAnAmigaIsRefused) {
  const auto zip_of = [](std::uint16_t host, std::uint32_t mode) {
    return changed_a([=](ZipEntry& e) {
      e.central.version_made_by = static_cast<std::uint16_t>(unsigned{host} << 8U | 20U);
      e.central.external_attributes = mode << 16U;
    });
  };
  for (const std::uint32_t mode : {04000U, 05755U, 0104644U}) {
    const Built built = zip_of(1, mode);
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << mode;
    expect_read(zip_of(0, mode));
    expect_read(zip_of(3, mode));
  }
  for (const std::uint32_t mode : {0U, 0644U, 02000U, 06000U, 0100644U}) expect_read(zip_of(1, mode));
}

TEST(ForeignHeaders, AUnicodePathThatRenamesIsRefused) {
  const auto with_path = [](std::string_view other, bool local) {
    Blob content = {std::byte{1}};
    content.resize(5);
    put_u32(content, 1, bitwise_crc32(blob("a")));
    const Blob name = blob(other);
    content.insert(content.end(), name.begin(), name.end());
    return changed_a([&](ZipEntry& e) {
      (local ? static_cast<HeaderFields&>(e.local) : e.central).extra = extra_record(0x7075, content);
    });
  };
  for (const bool local : {true, false}) {
    expect_read(with_path("a", local));
    const Built built = with_path("other", local);
    EXPECT_EQ(refusal_of_zip(built.bytes), local ? at_header(Code::zip_extra_unknown, built, "a")
                                                 : in_directory(Code::zip_extra_unknown, built, "a"));
  }
}

TEST(ForeignHeaders, ExtraFieldsThatMisleadAreRefused) {
  Blob overrun = extra_record(0x5455, pattern(9));
  put_u16(overrun, 2, 10);
  const Built local = changed_a([&](ZipEntry& e) { e.local.extra = overrun; });
  EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_malformed, local, "a"));
  const Built central = changed_a([&](ZipEntry& e) { e.central.extra = overrun; });
  EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_malformed, central, "a"));
  Blob twice = zip64_record({100, 100});
  const Blob second = zip64_record({100, 100});
  twice.insert(twice.end(), second.begin(), second.end());
  const Built doubled = changed_a([&](ZipEntry& e) { e.local.extra = twice; });
  EXPECT_EQ(refusal_of_zip(doubled.bytes), at_header(Code::zip_extra_duplicate, doubled, "a"));
  const Built missing = changed_a([](ZipEntry& e) { e.central.csize32 = e.central.usize32 = 0xffffffffU; });
  EXPECT_EQ(refusal_of_zip(missing.bytes), in_directory(Code::zip_zip64_extra, missing, "a"));
  const Built local_missing = changed_a([](ZipEntry& e) { e.local.usize32 = 0xffffffffU; });
  EXPECT_EQ(refusal_of_zip(local_missing.bytes), at_header(Code::zip_zip64_extra, local_missing, "a"));
}

// Measured: with the first unzip makes a symbolic link of the entry, with the second bsdtar does.
TEST(ForeignHeaders, FieldsByWhichSomeReadersMakeALinkOfAFileAreRefused) {
  for (const std::uint16_t field : {std::uint16_t{0x756e}, std::uint16_t{0x6c78}}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = extra_record(field, pattern(9)); });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_unknown, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = extra_record(field, pattern(9)); });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_unknown, central, "a"));
  }
}

TEST(ForeignHeaders, StrayBytesAfterExtraFieldsAreRefused) {
  Blob after_a_field = extra_record(0x5455, pattern(9));
  after_a_field.push_back(std::byte{7});
  Blob after_zeros = zeros(63);
  after_zeros.back() = std::byte{1};
  for (const Blob& extra : {blob("x"), blob("xyz"), after_a_field, after_zeros}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = extra; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_malformed, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = extra; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_malformed, central, "a"));
  }
}

TEST(ForeignHeaders, ALocalZip64FieldForOneSizeAloneIsRefused) {
  const auto refused = [](const Blob& field, bool size, bool stored_size) {
    const Built built = changed([&](ZipBuilder& b) {
      b.entries[1] = plain_entry(deflated_entry("a", pattern(50)));  // of two sizes
      b.entries[1].local.extra = field;
      if (size) b.entries[1].local.usize32 = 0xffffffffU;
      if (stored_size) b.entries[1].local.csize32 = 0xffffffffU;
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_zip64_extra, built, "a"));
  };
  const std::uint64_t stored = deflated_entry("a", pattern(50)).data.size();
  refused(zip64_record({50}), true, false);
  refused(zip64_record({stored}), false, true);
  refused(zip64_record({50, stored}), true, false);
  refused(zip64_record({50, stored}), false, true);
  refused(zip64_record({50}), true, true);
}

// bsdtar, from the front, reads as many bytes as the size that is not a sentinel says; others take it from the field.
TEST(ForeignHeaders, ASizeBesideASentinelIsThatOfTheZip64Field) {
  const auto with_sizes = [](std::uint32_t size, std::uint32_t stored_size) {
    return changed_a([=](ZipEntry& e) {
      e.local.extra = zip64_record({100, 100});
      e.local.usize32 = size;
      e.local.csize32 = stored_size;
    });
  };
  expect_read(with_sizes(100, 0xffffffffU));
  expect_read(with_sizes(0xffffffffU, 100));
  for (const std::uint32_t other : {0U, 5U, 99U, 101U, 0xfffffffeU}) {
    const Built size = with_sizes(other, 0xffffffffU);
    EXPECT_EQ(refusal_of_zip(size.bytes), at_header(Code::zip_zip64_extra, size, "a")) << other;
    const Built stored_size = with_sizes(0xffffffffU, other);
    EXPECT_EQ(refusal_of_zip(stored_size.bytes), at_header(Code::zip_zip64_extra, stored_size, "a")) << other;
  }
}

TEST(ForeignHeaders, Zip64FieldsThatContradictTheHeaderAreRefused) {
  for (const std::vector<std::uint64_t>& values :
       {std::vector<std::uint64_t>{99}, std::vector<std::uint64_t>{100, 99}}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = zip64_record(values); });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_zip64_extra, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = zip64_record(values); });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_zip64_extra, central, "a"));
  }
  // The first value is the size to a reader that goes by places, and the stored size to one that goes by sentinels.
  const Built out_of_step = changed_a([](ZipEntry& e) {
    e.central.extra = zip64_record({100, 100});
    e.central.csize32 = 0xffffffffU;
  });
  EXPECT_EQ(refusal_of_zip(out_of_step.bytes), in_directory(Code::zip_zip64_extra, out_of_step, "a"));
}

TEST(ForeignHeaders, FieldsThatDifferBetweenTheHeadersAreRefused) {
  const auto expect_local = [](Code code, const auto& change) {
    const Built built = changed_a(change);
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(code, built, "a"));
  };
  expect_local(Code::zip_local_header, [](ZipEntry& e) { e.local.signature = 0x04034b51U; });
  expect_local(Code::zip_local_header, [](ZipEntry& e) { e.local.extra_length = std::uint16_t{60000}; });
  expect_local(Code::zip_local_name, [](ZipEntry& e) { e.local.name = "c"; });
  expect_local(Code::zip_local_name, [](ZipEntry& e) { e.local.name = "aa"; });
  expect_local(Code::zip_local_size, [](ZipEntry& e) { e.local.usize = 99; });
  expect_local(Code::zip_local_size, [](ZipEntry& e) { e.local.csize = 0; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.crc = 1U; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.crc = 0U; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.method = std::uint16_t{8}; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.central.method = std::uint16_t{8}; });
}

TEST(ForeignHeaders, ADescriptorThatSaysOtherwiseIsRefused) {
  const auto refused = [](const auto& change) {
    const Built built = changed([&](ZipBuilder& b) {
      b.entries[1] = plain_entry(streamed_entry("a", pattern(100, 1)));
      change(b.entries[1]);
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "a"));
  };
  refused([](ZipEntry& e) { e.gap_after.clear(); });
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 4); });   // its CRC
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 8); });   // its compressed size
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 12); });  // its size
}

TEST(ForeignHeaders, EachBitOfEncryptionIsRefusedAlone) {
  const Built strong = changed_a([](ZipEntry& e) { e.central.flags = std::uint16_t{0x0040}; });
  EXPECT_EQ(refusal_of_zip(strong.bytes), in_directory(Code::zip_entry_encrypted, strong, "a"));
}

TEST(ForeignHeaders, AFolderThatIsALinkIsRefused) {
  const Built built = changed([](ZipBuilder& b) {
    ZipEntry folder = plain_entry(zip_entry("f/", {}));
    folder.central.external_attributes = 0120777U << 16U;
    b.entries.push_back(folder);
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "f/"));
}

TEST(ForeignHeaders, ALocalZip64FieldToWhichBothSizesAreSentMayHoldTwoSizes) {
  const ZipEntry deflated = plain_entry(deflated_entry("a", pattern(50)));
  expect_read(changed([&](ZipBuilder& b) {
    b.entries[1] = deflated;
    b.entries[1].local.extra = zip64_record({50, deflated.data.size()});
    b.entries[1].local.usize32 = b.entries[1].local.csize32 = 0xffffffffU;
  }));
}

TEST(ForeignHeaders, ALocalZip64FieldMayHoldMoreThanBothSizes) {
  expect_read(changed_a([](ZipEntry& e) { e.local.extra = zip64_record({100, 100, 0}); }));
}

TEST(ForeignHeaders, ALocalZip64FieldThatEndsWithinASizeIsRefused) {
  for (const bool both : {false, true}) {
    const Built built = changed_a([=](ZipEntry& e) {
      Blob field = zip64_record({100, 100});
      field.pop_back();
      put_u16(field, 2, 15);
      e.local.extra = field;
      e.local.csize32 = 0xffffffffU;
      if (both) e.local.usize32 = 0xffffffffU;
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_zip64_extra, built, "a"));
  }
}

TEST(ForeignHeaders, ASentinelWithoutAZip64FieldIsToldFromOneWithTooShortAField) {
  const auto message_of = [](const Blob& extra) {
    const Built built = changed_a([&](ZipEntry& e) {
      e.local.extra = extra;
      e.local.csize32 = e.local.usize32 = 0xffffffffU;
    });
    return error_of([&] { return zip::ForeignDirectory::read(built.bytes, {}).offset(); }).value().message();
  };
  EXPECT_NE(message_of({}), message_of(zip64_record({100})));
}

TEST(ForeignHeaders, NumbersBeforeStreamedDataAreZeroOrTheDirectorys) {
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

/// Info-ZIP's Unicode path field: version, CRC-32 of the header's name, the other name.
Blob unicode_path(std::uint32_t crc, std::string_view other) {
  Blob content(5, std::byte{1});
  put_u32(content, 1, crc);
  const Blob name = blob(other);
  content.insert(content.end(), name.begin(), name.end());
  return extra_record(0x7075, content);
}

TEST(ForeignHeaders, AUnicodePathOfAnotherNameIsIgnored) {
  expect_read(changed_a([](ZipEntry& e) { e.local.extra = unicode_path(bitwise_crc32(blob("b")), "other"); }));
}

TEST(ForeignHeaders, AnEmptyUnicodePathIsRefused) {
  const Built built = changed_a([](ZipEntry& e) { e.local.extra = unicode_path(bitwise_crc32(blob("a")), ""); });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_extra_unknown, built, "a"));
}

TEST(ForeignHeaders, AUnicodePathTooShortForItsCrcIsIgnored) {
  const std::uint32_t crc = bitwise_crc32(blob("a"));
  for (std::size_t length = 0; length < 5; ++length) {
    Blob extra = unicode_path(crc, "");
    extra.resize(4 + length);
    put_u16(extra, 2, static_cast<std::uint16_t>(length));
    // The next field begins with the last byte of the CRC, so that a reader that runs on finds all of it.
    const Blob next = extra_record(static_cast<std::uint16_t>(crc >> 24U), Blob(9));
    extra.insert(extra.end(), next.begin(), next.end());
    expect_read(changed_a([&](ZipEntry& e) { e.local.extra = extra; }));
  }
}

TEST(ForeignHeaders, APaddingRecordTooShortForAnAlignmentStatesNone) {
  const auto alignment_of = [](const Blob& extra) {
    const Built built = changed([&](ZipBuilder& b) {
      Blob data(100);
      put_u16(data, 0, 64);  // what a reader finds that runs on
      b.entries[1] = plain_entry(zip_entry("a", data));
      b.entries[1].local.extra = extra;
    });
    const auto directory = zip::ForeignDirectory::read(built.bytes, {});
    return directory.entries()[*directory.find("a")].alignment;
  };
  Blob stated = extra_record(0xA11E, Blob(2));
  put_u16(stated, 4, 128);
  for (const std::uint16_t id : {std::uint16_t{0xD935}, std::uint16_t{0xA11E}}) {
    EXPECT_EQ(alignment_of(extra_record(id, {})), 0U);
    EXPECT_EQ(alignment_of(extra_record(id, Blob(1))), 0U);
    Blob low_byte = extra_record(id, Blob(1));
    low_byte[4] = std::byte{64};
    low_byte.push_back(std::byte{0});  // zipalign's padding
    EXPECT_EQ(alignment_of(low_byte), 0U);
  }
  Blob both = extra_record(0xD935, Blob(1));
  both.insert(both.end(), stated.begin(), stated.end());
  EXPECT_EQ(alignment_of(both), 128U);
}

TEST(ForeignHeaders, AnOffsetAtTheStartOfTheDirectoryIsRefused) {
  const Built plain = plain_zip().build_placed();
  const Built built = changed([&](ZipBuilder& b) {
    b.entry("b").central.header_offset32 = static_cast<std::uint32_t>(plain.directory_offset);
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_bounds, built, "b"));
}

// --- Descriptors: forms and ends -----------------------------------------------------------------------------------

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
  const Built built = ending_in_descriptor(descriptor);
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "b"));
}

TEST(ForeignHeaders, ADescriptorMayEndAtTheDirectory) {
  for (const bool with_signature : {true, false}) {
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      expect_read(ending_in_descriptor(descriptor_of_b(with_signature, width)));
    }
  }
}

TEST(ForeignHeaders, ADescriptorThatRunsIntoTheDirectoryIsRefused) {
  for (const bool with_signature : {true, false}) {
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      Blob whole = descriptor_of_b(with_signature, width);
      while (!whole.empty()) {
        whole.pop_back();
        expect_descriptor_refused(whole);
      }
    }
  }
}

// The directory's first byte is `P`, so a reader that runs on by one byte finds a size of 0x50 and three bytes more.
TEST(ForeignHeaders, ADescriptorThatLacksTheHighestByteOfASizeIsRefused) {
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

TEST(ForeignHeaders, FourBytesBeforeADescriptorAreItsSignatureOrRefused) {
  Blob descriptor = descriptor_of_b(true, 4);
  put_u32(descriptor, 0, signature::descriptor + 1);
  expect_descriptor_refused(descriptor);
}

TEST(ForeignHeaders, AWideDescriptorStatesBothSizes) {
  for (const std::size_t at : {std::size_t{8}, std::size_t{12}, std::size_t{16}, std::size_t{20}}) {
    Blob descriptor = descriptor_of_b(true, 8);
    flip_bit(descriptor, at);
    expect_descriptor_refused(descriptor);
  }
}

}  // namespace
}  // namespace onnxar::testing
