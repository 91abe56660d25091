// Tests which entries are complete when bytes arrive in any order.
#include "remote/arrived_entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "archive/opened.h"
#include "base/byte_range.h"
#include "base/output_target.h"
#include "remote/pieces.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

/// In pieces: `first` in 0; `long` in 0, 1 and 2; `last` and the model in 2.
Built three_pieces() {
  return built_with({zip_entry("first", pattern(1000)), zip_entry("long", pattern(2 * piece_size)),
                     zip_entry("last", pattern(2000))});
}

/// A download of an archive.
class ArrivedEntriesTest : public ::testing::Test {
 protected:
  ArrivedEntriesTest() { part_.set_size(built_.bytes.size()); }

  std::vector<base::ByteRange> receive(std::uint64_t piece) {
    const Bytes rest = Bytes(built_.bytes).subspan(piece * piece_size);
    return part_.receive(piece * piece_size, rest.first(std::min<std::size_t>(piece_size, rest.size())));
  }
  void damage(std::string_view name) { flip_bit(built_.bytes, built_.entry(name).data_offset); }

  /// Receives the pieces one by one. Returns which entries were verified.
  std::vector<bool> verified_of(const std::vector<std::uint64_t>& pieces) {
    ArrivedEntries arrived(directory_, part_, threads_);
    for (const std::uint64_t piece : pieces) arrived.add(receive(piece));
    return arrived.finish();
  }

  std::size_t threads_ = 2;
  Built built_ = three_pieces();
  TempDir folder_;
  PartFile part_{base::find_target(folder_ / "out.onnxar", base::Existing::refuse), "1", built_.bytes.size(),
                 base::Sync::none};
  zip::Directory directory_ = zip::Directory::read(built_.bytes, {});
};

TEST_F(ArrivedEntriesTest, AreVerifiedWhenAllTheirPiecesCame) {
  EXPECT_EQ(verified_of({2, 0}), (std::vector{true, false, true, true}));
}

TEST_F(ArrivedEntriesTest, InAnyOrder) { EXPECT_EQ(verified_of({1, 2, 0}), (std::vector{true, true, true, true})); }

TEST_F(ArrivedEntriesTest, CountPiecesOfAnEarlierDownload) {
  receive(0);
  receive(2);
  EXPECT_EQ(verified_of({1}), (std::vector{true, true, true, true}));
}

TEST_F(ArrivedEntriesTest, NothingIsVerifiedOfWhatDidNotCome) { EXPECT_EQ(verified_of({}), std::vector<bool>(4)); }

TEST_F(ArrivedEntriesTest, AWrongEntryIsAFaultOnceItCame) {
  damage("long");
  const ErrorContext wrong{Code::zip_data_crc, "long", built_.entry("long").data_offset};
  EXPECT_EQ(refusal_of([&] { return verified_of({0, 2, 1}); }), wrong);
}

TEST_F(ArrivedEntriesTest, WrongEntryIsNoFaultBeforeItArrives) {
  damage("long");
  EXPECT_EQ(verified_of({0, 2}), (std::vector{true, false, true, true}));
}

TEST_F(ArrivedEntriesTest, AWrongLocalHeaderIsAFault) {
  flip_bit(built_.bytes, built_.entry("last").header_offset);
  EXPECT_EQ(code_of([&] { return verified_of({2}); }), Code::zip_local_header);
}

TEST_F(ArrivedEntriesTest, ChecksAnOffsetAgainAfterOpening) {
  // Opening proves the header of an entry that a superseded tail follows, from bytes that the server gave then.
  static_cast<void>(directory_.data_offset(built_.bytes, 2));
  flip_bit(built_.bytes, built_.entry("last").header_offset);
  EXPECT_EQ(code_of([&] { return verified_of({2}); }), Code::zip_local_header);
}

TEST_F(ArrivedEntriesTest, WithoutAThreadTheCallerVerifies) {
  threads_ = 1;
  receive(0);
  EXPECT_EQ(verified_of({2}), (std::vector{true, false, true, true}));
}

TEST_F(ArrivedEntriesTest, WithoutAThreadTheCallerFindsFaults) {
  threads_ = 1;
  damage("last");
  EXPECT_EQ(code_of([&] { return verified_of({2}); }), Code::zip_data_crc);
}

TEST_F(ArrivedEntriesTest, ADownloadThatEndsEarlyWaitsForNothing) {
  receive(0);
  EXPECT_NO_THROW(ArrivedEntries(directory_, part_, threads_));
}

}  // namespace
}  // namespace onnxar::testing
