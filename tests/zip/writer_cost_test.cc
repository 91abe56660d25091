// What names cost the writer, counted in bytes that it allocates.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "onnxar/bytes.h"
#include "support/temp_dir.h"
#include "zip/writer.h"

namespace {

thread_local std::size_t allocated = 0;

}  // namespace

// Never inlined: where GCC sees into one of a pair only, it takes the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocated += size;
  if (void* place = std::malloc(size == 0 ? 1 : size)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept { std::free(place); }

namespace onnxar::testing {
namespace {

/// A name of more than 1000 bytes in 508 folders, none of which another name has.
std::string deep_name(int i) {
  std::array<char, 8> first{};
  std::snprintf(first.data(), first.size(), "%04x", static_cast<unsigned>(i));
  std::string name = first.data();
  for (int folder = 0; folder < 508; ++folder) name += "/a";
  return name;
}

// A set of every folder of every name takes 250 times the bytes of the names.
TEST(WriterCost, FoldersOfNamesTakeNoMoreThanTheNames) {
  constexpr int count = 256;
  const TempDir folder;
  zip::Writer writer({base::OutputFile::create(folder / "a", base::Existing::refuse), false}, 1);
  const std::vector<std::byte> bytes(40'000);
  writer.add("first", 64, SpanSource(bytes));  // makes the buffer of the output grow to its size
  const std::size_t before = allocated;
  std::size_t names = 0;
  for (int i = 0; i < count; ++i) {
    const std::string name = deep_name(i);
    names += name.size();
    writer.add(name, 64, SpanSource(Bytes()));
  }
  EXPECT_LE(allocated - before, 16 * names);
}

}  // namespace
}  // namespace onnxar::testing
