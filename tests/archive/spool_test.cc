// Tests the temporary file for entries that are too large for memory.
#include "archive/spool.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

Spool::Fill filled_with(const Blob& bytes) {
  return [&bytes](const ByteSink& sink) {
    sink(Bytes(bytes).first(bytes.size() / 2));
    sink(Bytes(bytes).subspan(bytes.size() / 2));
  };
}

TEST(Spool, EntriesHaveDisjointRangesAtMultiplesOf64) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Bytes first = spool.place_of(0, 100);
  const Bytes second = spool.place_of(500, 65);
  EXPECT_EQ(first.size(), 100U);
  EXPECT_EQ(second.data(), first.data() + 128);
  EXPECT_EQ(spool.place_of(0, 100).data(), first.data());
  EXPECT_TRUE(visible_names(folder).empty());  // the file has no name
}

TEST(Spool, EachEntryIsFilledOnceInItsRange) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Blob data = pattern(300);
  const Bytes place = spool.place_of(7, data.size());
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    const Bytes bytes = spool.bytes(7, [&](const ByteSink& sink) {
      ++calls;
      filled_with(data)(sink);
    });
    EXPECT_EQ(bytes.data(), place.data());
    EXPECT_EQ(copy_of(bytes), data);
  }
  EXPECT_EQ(calls, 1);
}

TEST(Spool, AnEntryWhoseFillingFailedIsFilledAgain) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Blob data = pattern(300);
  static_cast<void>(spool.place_of(7, data.size()));
  EXPECT_THROW(static_cast<void>(spool.bytes(7,
                                             [](const ByteSink& sink) {
                                               sink(pattern(10, 5));
                                               throw std::runtime_error("no paper");
                                             })),
               std::runtime_error);
  EXPECT_EQ(copy_of(spool.bytes(7, filled_with(data))), data);
}

}  // namespace

}  // namespace onnxar::testing
