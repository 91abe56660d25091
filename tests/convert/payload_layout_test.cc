// Tests the plan of an archive: keys, places and alignment of payloads.
#include "convert/payload_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Gives places `0`, `1`, ... in the order of the calls.
PayloadLayout numbered(PayloadLayout::Data data) {
  return PayloadLayout("out", [data, next = 0](const auto&, const auto&, const Payload& payload) mutable {
    return PayloadLayout::Placement{{std::to_string(next++), 0, payload.size(), {}}, data};
  });
}

TEST(PayloadLayout, TensorsThatShareBytesShareThePlace) {
  const Blob bytes = pattern(100);
  const Payload whole = payload_of(ByteSpan::borrow(Bytes(bytes)));
  const Payload again = payload_of(ByteSpan::borrow(Bytes(bytes)));
  const Payload part = payload_of(ByteSpan::borrow(Bytes(bytes).first(50)));
  PayloadLayout layout = numbered(PayloadLayout::Data::to_write);
  const onnx::TensorView tensor;
  const onnx::TensorSite site{tensor, {}, {}, {}};
  EXPECT_EQ(layout.put(site, whole).location, "0");
  EXPECT_EQ(layout.put(site, again).location, "0");
  EXPECT_EQ(layout.put(site, part).location, "1");
  EXPECT_THAT(layout.placed(), SizeIs(2));
  ConvertReport report;
  layout.add_to(report);
  EXPECT_EQ(report.tensors_outside, 3U);
  EXPECT_EQ(report.payloads, 2U);
  EXPECT_EQ(report.payload_bytes, 150U);
}

TEST(PayloadLayout, PlacesBytesOnceInEachFolder) {
  const Blob bytes = pattern(100);
  const Payload payload = payload_of(ByteSpan::borrow(Bytes(bytes)));
  PayloadLayout layout = numbered(PayloadLayout::Data::to_write);
  const onnx::TensorView tensor;
  const onnx::TensorSite site{tensor, {}, {}, {}};
  layout.set_folder("unet/");
  EXPECT_EQ(layout.put(site, payload).location, "0");
  layout.set_folder("vae/");
  EXPECT_EQ(layout.put(site, payload).location, "1");
  layout.set_folder("unet/");
  EXPECT_EQ(layout.put(site, payload).location, "0");
  ASSERT_THAT(layout.placed(), SizeIs(2));
  EXPECT_EQ(layout.placed().back().folder, "vae/");
}

TEST(PayloadLayout, DataThatIsThereAlreadyIsNotWritten) {
  const Blob bytes = pattern(100);
  const Payload payload = payload_of(ByteSpan::borrow(Bytes(bytes)));
  PayloadLayout layout = numbered(PayloadLayout::Data::existing);
  const onnx::TensorView tensor;
  EXPECT_EQ(layout.put({tensor, {}, {}, {}}, payload).length, 100U);
  EXPECT_THAT(layout.placed(), IsEmpty());
}

}  // namespace
}  // namespace onnxar::testing
