// What is kept cannot be a temporary: each check is of what compiles.
#include "base/kept.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/file_origin.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/sources.h"

namespace onnxar::testing {
namespace {

using base::Kept;

template <typename T, typename... Arguments>
constexpr bool takes = std::is_constructible_v<T, Arguments...>;

const auto lambda = [](std::uint64_t, std::uint64_t) {};

TEST(Kept, ReferenceRefusesTemporary) {
  static_assert(takes<base::CountedSource, const SpanSource&, base::Progress&>);
  static_assert(!takes<base::CountedSource, SpanSource, base::Progress&>);
  static_assert(!takes<base::CountedSource, const SpanSource, base::Progress&>);
  static_assert(!takes<base::CountedSource, const SpanSource&, base::Progress>);
  static_assert(takes<base::Progress, const ProgressCallback&, std::uint64_t>);
  static_assert(!takes<base::Progress, ProgressCallback, std::uint64_t>);
  static_assert(takes<base::ExactSource, const SpanSource&> && takes<base::ExactSource, std::shared_ptr<SpanSource>>);
  static_assert(!takes<base::ExactSource, SpanSource>);
}

TEST(Kept, ReferenceRefusesWhatAConversionMakes) {
  static_assert(!takes<base::Progress, decltype(lambda)&, std::uint64_t>);
  static_assert(!takes<Kept<const std::string>, const char*>);
}

TEST(Kept, ViewRefusesTemporaryOwner) {
  using Buffer = std::vector<std::byte>;
  static_assert(takes<base::MappedSource, Buffer&, std::nullptr_t> && takes<base::MappedSource, Bytes, std::nullptr_t>);
  static_assert(!takes<base::MappedSource, Buffer, std::nullptr_t>);
  static_assert(!takes<base::MappedSource, const Buffer, std::nullptr_t>);
  static_assert(!takes<Kept<Bytes>, std::array<std::byte, 2>> && takes<Kept<Bytes>, std::array<std::byte, 2>&>);
  static_assert(takes<base::JsonReader, const std::string&, Code> && takes<base::JsonReader, std::string_view, Code>);
  static_assert(takes<base::JsonReader, const char(&)[3], Code>);
  static_assert(!takes<base::JsonReader, std::string, Code>);
}

TEST(Kept, ViewIsThatOfTheArgument) {
  const std::string text = "abc";
  const Kept<std::string_view> kept = text;
  EXPECT_EQ(kept.data(), text.data());
  EXPECT_EQ(kept, "abc");
  EXPECT_TRUE(Kept<Bytes>().empty());
  static_assert(sizeof(Kept<Bytes>) == sizeof(Bytes) && std::is_trivially_copyable_v<Kept<Bytes>>);
  static_assert(sizeof(Kept<const std::string>) == sizeof(void*));
}

}  // namespace
}  // namespace onnxar::testing
