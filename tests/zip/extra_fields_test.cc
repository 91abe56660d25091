// Extra fields: only those that keep the meaning of an entry are allowed.
#include "zip/extra_fields.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/refusal.h"
#include "support/zip_builder.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

using zip::HeaderKind;

zip::ExtraFields extra_fields_in(Bytes extra, HeaderKind kind = HeaderKind::local) {
  return zip::read_extra_fields(extra, kind, zip::HeaderContext("a", 7));
}

std::optional<ErrorContext> refusal_of_extra(const Blob& extra, HeaderKind kind = HeaderKind::local) {
  return refusal_of([&] { return extra_fields_in(extra, kind); });
}

TEST(ExtraFields, NoBytesMeanNoFields) {
  const zip::ExtraFields fields = extra_fields_in({});
  EXPECT_FALSE(fields.zip64);
  EXPECT_FALSE(fields.padding);
}

TEST(ExtraFields, PayloadsAreViewsOfTheHeader) {
  const Blob zip64 = zip64_record({5, 6});
  const Blob both = joined(zip64, extra_record(0xd935, pattern(9)));
  const zip::ExtraFields fields = extra_fields_in(both);
  EXPECT_EQ(fields.zip64->data(), both.data() + 4);
  EXPECT_EQ(fields.zip64->size(), 16U);
  EXPECT_EQ(copy_of(*fields.padding), pattern(9));
  EXPECT_EQ(fields.padding_id, 0xd935);
}

TEST(ExtraFields, ADirectoryHeaderHasOnlyTheOtherPaddingRecord) {
  const Blob alignment = extra_record(0xa11e, Blob(2));
  EXPECT_EQ(extra_fields_in(alignment, HeaderKind::directory).padding_id, 0xa11e);
  EXPECT_EQ(refusal_of_extra(extra_record(0xd935, Blob(2)), HeaderKind::directory),
            (ErrorContext{Code::zip_extra_unknown, "a", 7}));
}

TEST(ExtraFields, OtherIdsAreRefused) {
  for (const std::uint16_t field :
       std::vector<std::uint16_t>{0, 0x5455, 0x7075, 0x6375, 0x9901, 0x4246, 0xA11F, 0x1EA1, 0x7875}) {
    EXPECT_EQ(refusal_of_extra(extra_record(field, {})), (ErrorContext{Code::zip_extra_unknown, "a", 7})) << field;
  }
}

TEST(ExtraFields, AFieldThatRunsPastTheHeaderIsRefused) {
  const Blob whole = zip64_record({5, 6});
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(refusal_of_extra(part(whole, 0, size)), (ErrorContext{Code::zip_extra_malformed, "a", 7})) << size;
  }
}

TEST(ExtraFields, TwoRecordsThatStateAnAlignmentAreRefused) {
  const Blob first = extra_record(0xd935, Blob(2));
  EXPECT_EQ(refusal_of_extra(joined(first, extra_record(0xa11e, Blob(2)))),
            (ErrorContext{Code::zip_extra_duplicate, "a", 7}));
  EXPECT_EQ(refusal_of_extra(joined(zip64_record({}), zip64_record({}))),
            (ErrorContext{Code::zip_extra_duplicate, "a", 7}));
}

TEST(RecordedAlignment, IsAPowerOfTwoUpToTheLimitOfTheRecord) {
  const auto recorded = [](std::uint16_t field, std::uint16_t alignment) {
    Blob padding(3);
    put_u16(padding, 0, alignment);
    return zip::recorded_alignment(field, padding);
  };
  EXPECT_EQ(recorded(0xd935, 64), 64U);
  EXPECT_EQ(recorded(0xd935, 32768), 32768U);
  EXPECT_EQ(recorded(0xa11e, 16384), 16384U);
  EXPECT_EQ(recorded(0xa11e, 32768), std::nullopt);  // its highest bit is a flag
  for (const std::uint16_t alignment : std::vector<std::uint16_t>{0, 1, 32, 63, 65, 96, 192, 0x8001, 0xFFFF}) {
    EXPECT_EQ(recorded(0xd935, alignment), std::nullopt) << alignment;
    EXPECT_EQ(recorded(0xa11e, alignment), std::nullopt) << alignment;
  }
}

}  // namespace
}  // namespace onnxar::testing
