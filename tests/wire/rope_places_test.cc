// A rope tells where the bytes of its sources lie, so that they can be shared and need not be copied.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/wire_builder.h"
#include "wire/rope.h"

namespace onnxar::testing {
namespace {

TEST(RopePlaces, OnlySourcesAreLocatedInTheirOrder) {
  const Blob view = pattern(10, 1);
  const Blob first = pattern(20, 2);
  const Blob second = pattern(30, 3);
  wire::Rope rope;
  rope.append(Bytes(view));
  rope.append(std::make_shared<SpanSource>(first));
  rope.append(std::string("text"));
  rope.append(std::make_shared<SpanSource>(second));
  rope.append(std::make_shared<SpanSource>(Bytes()));
  std::vector<const std::byte*> places;
  rope.locate([&](const Location& location) { places.push_back(location.bytes.data()); });
  EXPECT_EQ(places, (std::vector<const std::byte*>{first.data(), second.data()}));
}

TEST(RopePlaces, ARopeOfViewsHasNone) {
  const Blob view = pattern(10);
  wire::Rope rope;
  rope.append(Bytes(view));
  rope.locate([](const Location&) { FAIL(); });
}

}  // namespace
}  // namespace onnxar::testing
