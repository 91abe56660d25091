// Structs of options that grew after their callers were compiled: callers keep the struct of their header.
#include "c/sized_struct.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/refusal.h"

namespace onnxar::c {
namespace {

using onnxar::testing::error_if_any;
using onnxar::testing::expect_error;

/// The struct of the caller's header.
struct First {
  std::size_t struct_size;
  std::uint64_t limit;
  std::int32_t kind;
  std::int32_t copy;
};

/// The struct of the library's header.
struct Grown {
  std::size_t struct_size;
  std::uint64_t limit;
  std::int32_t kind;
  std::int32_t copy;
  std::uint64_t added;
};

/// The caller's struct, with bytes after it that do not belong to the options.
struct GivenFirst {
  First options{};
  std::uint64_t other = ~std::uint64_t{0};
};

TEST(SizedStruct, ReadsShorterStructWithZerosForTheRest) {
  const GivenFirst given{{sizeof(First), 7, 2, 1}};
  const Grown known = known_part(reinterpret_cast<const Grown*>(&given), sizeof(First));
  EXPECT_EQ(known.limit, 7U);
  EXPECT_EQ(known.kind, 2);
  EXPECT_EQ(known.copy, 1);
  EXPECT_EQ(known.added, 0U) << "what follows the caller's struct is not looked at";
}

TEST(SizedStruct, ReadsLongerStructIfUnknownMembersAreZero) {
  Grown given{sizeof(Grown), 7, 2, 1, 0};
  EXPECT_EQ(known_part(reinterpret_cast<const First*>(&given), sizeof(First)).limit, 7U);
  given.added = 1;
  const Error error = error_if_any([&] {
                        static_cast<void>(known_part(reinterpret_cast<const First*>(&given), sizeof(First)));
                      }).value();
  EXPECT_EQ(error.code(), Code::usage_argument);
}

TEST(SizedStruct, SizeThatNoVersionHadIsRefused) {
  // With a large size, bytes after the struct must not be read: they may not be mapped.
  for (const std::size_t size : {std::size_t{0}, sizeof(First) - 1, std::size_t{4097}, ~std::size_t{0}}) {
    const First given{size, 7, 2, 1};
    expect_error(error_if_any([&] { static_cast<void>(known_part(&given, sizeof(First))); }),
                 {.code = Code::usage_argument});
  }
}

TEST(SizedStruct, NoOptionsAreAllZero) { EXPECT_EQ(known_part<Grown>(nullptr, sizeof(First)).limit, 0U); }

}  // namespace
}  // namespace onnxar::c
