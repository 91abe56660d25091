// Formats zip directories as text, and keeps the last ones for a test that fails.
#include "support/zip_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using View = std::span<const std::byte>;

constexpr int most_lines = 30;
constexpr std::size_t most_bytes = 16 * mebibyte;  // larger files are not copied

bool has_signature(View bytes, std::size_t at, std::uint32_t value, std::size_t size) {
  return at <= bytes.size() && bytes.size() - at >= size && u32_at(bytes, at) == value;
}

std::optional<std::size_t> end_record(View bytes) {
  for (std::size_t at = bytes.size(); at-- > 0;) {
    if (has_signature(bytes, at, signature::end, 22)) return at;
  }
  return std::nullopt;
}

/// Sizes (whole, compressed) and offset of a central header, with those of its zip64 record.
std::array<std::uint64_t, 3> numbers_of(View bytes, std::size_t at, View extra) {
  std::array<std::uint64_t, 3> numbers = {u32_at(bytes, at + 24), u32_at(bytes, at + 20), u32_at(bytes, at + 42)};
  while (extra.size() >= 4 && u16_at(extra, 0) != 1)
    extra = extra.subspan(std::min<std::size_t>(extra.size(), 4U + u16_at(extra, 2)));
  std::size_t next = 4;
  for (std::uint64_t& number : numbers) {
    if (number != sentinel || next + 8 > extra.size()) continue;
    number = u64_at(extra, next);
    next += 8;
  }
  return numbers;
}

void print_line(std::ostream& out, const std::string& name, const auto&... columns) {
  out << "  " << std::left << std::setw(24) << name << std::right;
  ((out << std::setw(12) << columns), ...);
  out << '\n';
}

/// Prints the entry whose central header is at `at`. Returns the offset after it, or the end of the bytes if it is cut.
std::size_t print_entry(std::ostream& out, View bytes, std::size_t at) {
  const std::size_t name_size = u16_at(bytes, at + 28);
  const std::size_t extra_size = u16_at(bytes, at + 30);
  const View rest = bytes.subspan(at + 46);
  if (name_size + extra_size > rest.size()) {
    out << "  the central header at " << at << " is cut\n";
    return bytes.size();
  }
  const std::string name(reinterpret_cast<const char*>(rest.data()), name_size);
  const auto [size, compressed, header] = numbers_of(bytes, at, rest.subspan(name_size, extra_size));
  std::string data = "no header";
  std::string extras = "-";
  if (has_signature(bytes, header, signature::local, 30)) {
    data = std::to_string(header + 30 + u16_at(bytes, header + 26) + u16_at(bytes, header + 28));
    extras = std::to_string(u16_at(bytes, header + 28));
  }
  print_line(out, ::testing::PrintToString(name), header, data, size, compressed, u16_at(bytes, at + 10),
             extras + "+" + std::to_string(extra_size));
  return std::min(bytes.size(), at + 46 + name_size + extra_size + u16_at(bytes, at + 32));
}

struct Noted {
  std::string_view role;
  Blob bytes;
};
thread_local std::vector<Noted> noted;

/// Prints the zip files of a test when it fails, and forgets them when the next one begins.
class ZipPrinter final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& /*test*/) override { noted.clear(); }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    for (const Noted& zip : noted) std::cout << "The zip file last " << zip.role << ": " << zip_directory(zip.bytes);
    noted.clear();
  }
};

}  // namespace

std::string zip_directory(View bytes) {
  std::ostringstream out;
  out << bytes.size() << " bytes";
  const auto end = end_record(bytes);
  if (!end) return out.str() + ", no end record\n";
  out << ", end record at " << *end << ": " << u16_at(bytes, *end + 10) << " entries, directory of "
      << u32_at(bytes, *end + 12) << " bytes at " << u32_at(bytes, *end + 16) << '\n';
  std::size_t at = u32_at(bytes, *end + 16);
  if (at == sentinel && *end >= 76 && has_signature(bytes, *end - 76, signature::zip64_end, 56))
    at = u64_at(bytes, *end - 28);
  print_line(out, "name", "header", "data", "size", "compressed", "method", "extra (l+c)");
  for (int lines = 0; has_signature(bytes, at, signature::central, 46); ++lines) {
    if (lines == most_lines) return out.str() + "  and more\n";
    at = print_entry(out, bytes, at);
  }
  if (at < *end && !has_signature(bytes, at, signature::zip64_end, 56)) out << "  no central header at " << at << '\n';
  return out.str();
}

void note_zip(std::string_view role, View bytes) {
  ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  if (tests.current_test_info() == nullptr || bytes.size() > most_bytes) return;
  [[maybe_unused]] static const bool listens = (tests.listeners().Append(new ZipPrinter), true);
  std::erase_if(noted, [&](const Noted& zip) { return zip.role == role || std::ranges::equal(zip.bytes, bytes); });
  noted.push_back({role, Blob(bytes.begin(), bytes.end())});
}

}  // namespace onnxar::testing
