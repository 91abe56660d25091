// The search for stand-ins in a model that comes in pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "source/foreign.h"
#include "source/foreign_zip_resolver.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

/// Gives its bytes in pieces of one size, after an empty piece.
class InPieces final : public ByteSource {
 public:
  InPieces(Bytes bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    sink({});
    for (std::size_t at = 0; at < bytes_.size(); at += piece_) {
      sink(bytes_.subspan(at, std::min(piece_, bytes_.size() - at)));
    }
  }

 private:
  Bytes bytes_;
  std::size_t piece_;
};

bool found_in(const Blob& model, std::size_t piece) { return may_have_stand_ins(InPieces(model, piece)); }

TEST(StandIns, AreFoundWhereverPiecesEnd) {
  const Blob model = model_of({floats("small", 3), stand_in("w", 300), floats("after", 30)}).take();
  for (std::size_t piece = 1; piece <= model.size(); ++piece) EXPECT_TRUE(found_in(model, piece)) << piece;
}

TEST(StandIns, AreNotFoundWhereTheTextIsInAnotherField) {
  const Blob model = model_of({floats("__EXTERNAL", 3), linked_floats("w", 4, "__EXTERNAL")}).take();
  for (std::size_t piece = 1; piece <= model.size(); ++piece) EXPECT_FALSE(found_in(model, piece)) << piece;
}

TEST(StandIns, AreNotFoundWhereTheDataIsLongerThanTheText) {
  const Blob model = model_of({tensor("w", dtype::uint8, {11}).raw_data(blob("__EXTERNAL2"))}).take();
  EXPECT_FALSE(found_in(model, model.size()));
}

TEST(StandIns, AreNotFoundInNothing) { EXPECT_FALSE(found_in({}, 1)); }

}  // namespace
}  // namespace onnxar::testing
