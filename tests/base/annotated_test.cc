// Errors get the context of outer layers, and keep what inner ones said.
#include "base/annotated.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

#include "onnxar/error.h"

namespace onnxar::testing {
namespace {

using base::annotate;

const Error inner(Code::zip_data_crc, "sentence", {"", 7});

TEST(Annotate, AddsPrefixEntryBasePathAndAdvice) {
  const Error outer = annotate(
      inner, {.prefix = "tensor \"w\"", .entry = "e", .base = 100, .path = "p", .advice = {Hint::pack_it, "v"}});
  EXPECT_EQ(outer.code(), Code::zip_data_crc);
  EXPECT_EQ(outer.message(), "tensor \"w\": sentence");
  EXPECT_EQ(outer.entry(), "e");
  EXPECT_EQ(outer.offset(), 107U);
  EXPECT_EQ(outer.path(), "p");
  EXPECT_EQ(outer.advice().hint, Hint::pack_it);
  EXPECT_EQ(outer.advice().value, "v");
}

TEST(Annotate, NothingAddedLeavesTheErrorAsItIs) {
  const Error error(Code::io_failed, "sentence", {"e", 7}, "p", {Hint::pack_it});
  const Error same = annotate(error, {});
  EXPECT_STREQ(same.what(), error.what());
  EXPECT_EQ(same.code(), Code::io_failed);
  EXPECT_EQ(same.advice().hint, Hint::pack_it);
}

TEST(Annotate, KeepsWhatTheInnerLayerAdded) {
  const Error placed(Code::io_failed, "sentence", {"e", 7}, "p", {Hint::pack_it});
  const Error outer = annotate(
      placed,
      {.place = Place{"other", 1}, .entry = "other", .base = 100, .path = "other", .advice = {Hint::overwrite}});
  EXPECT_EQ(outer.entry(), "e");
  EXPECT_EQ(outer.offset(), 7U);
  EXPECT_EQ(outer.path(), "p");
  EXPECT_EQ(outer.advice().hint, Hint::pack_it);
}

TEST(Annotate, AddsNoEntryToTheErrorOfAnotherFile) {
  const Error outer = annotate(Error(Code::io_failed, "sentence", {"", 7}, "w.bin"), {.entry = "e", .base = 100});
  EXPECT_EQ(outer.entry(), "");
  EXPECT_EQ(outer.offset(), 7U);
}

TEST(Annotate, APlaceReplacesARelativeOffset) {
  const Error moved = annotate(inner, {.place = Place{"e", 3}});
  EXPECT_EQ(moved.entry(), "e");
  EXPECT_EQ(moved.offset(), 3U);
  EXPECT_EQ(annotate(inner, {.place = Place{}}).offset(), std::nullopt);
}

TEST(Annotate, AnOffsetThatWouldWrapIsLeftOut) {
  EXPECT_EQ(annotate(inner, {.base = std::numeric_limits<std::uint64_t>::max()}).offset(), std::nullopt);
}

TEST(Annotated, ActionsAreAnnotatedOnlyWhenTheyFail) {
  bool asked = false;
  const auto added = [&asked] {
    asked = true;
    return base::Annotation{.prefix = "outer"};
  };
  EXPECT_EQ(base::annotated(added, [] { return 5; }), 5);
  EXPECT_FALSE(asked);
  try {
    base::annotated(added, [] { throw Error(inner); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "outer: sentence");
  }
}

TEST(Annotated, TakesPathOrFunctionOfError) {
  const auto thrown = [](const auto& context) {
    try {
      base::annotated(context, [] { throw Error(inner); });
    } catch (const Error& error) {
      return std::optional(error);
    }
    return std::optional<Error>();
  };
  EXPECT_EQ(thrown(std::filesystem::path("p")).value().path(), "p");
  const auto other = [](const Error& error) { return Error(Code::io_changed, error.message() + " again"); };
  EXPECT_EQ(thrown(other).value().code(), Code::io_changed);
  EXPECT_EQ(thrown(other).value().message(), "sentence again");
}

}  // namespace
}  // namespace onnxar::testing
