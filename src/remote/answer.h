// What a server says of the bytes that it sends: the head of an answer of HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar {

/// Returns the text that the server answers with this status.
std::string status_text(int status);

/// True if the text has an ASCII control character, which could end the field of a request that it is in.
bool has_control(std::string_view text) noexcept;

/// The field Content-Range: `bytes 0-99/1000`.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size = 0;  ///< of the whole file

  [[nodiscard]] std::uint64_t length() const noexcept { return last - first + 1; }
};

/// Returns nothing if the text has another form, does not state the size, or contradicts itself.
std::optional<ContentRange> parse_content_range(std::string_view text);

/// Tells one version of a file from another.
struct Version {
  std::string etag = {};           ///< with its quotes; weak ones begin with W/
  std::string last_modified = {};  ///< as it was sent
  std::optional<std::uint64_t> size = {};

  /// Returns the value of If-Range: a strong ETag, or else the time; empty if there is neither, or a character that
  /// would end the field.
  [[nodiscard]] std::string for_if_range() const;
  /// True if an answer may be of this version: no value that both state differs.
  [[nodiscard]] bool agrees(const Version& other) const;
};

/// The fields of one answer that matter here.
struct Answer {
  int status = 0;
  std::optional<std::string> range_text = {};  ///< Content-Range
  std::string encoding = {};                   ///< Content-Encoding; empty for none and `identity`
  std::string type = {};                       ///< Content-Type
  std::string location = {};
  std::optional<std::chrono::seconds> retry_after = {};
  std::optional<std::uint64_t> length = {};  ///< Content-Length
  Version version = {};
  bool is_complete = false;  ///< the empty line after the head was taken

  /// Takes a line of the head. A status line begins a new answer: those before, such as `100 Continue`, do not count.
  /// Lines after the head are ignored.
  void add_line(std::string_view line);
  [[nodiscard]] std::optional<ContentRange> range() const;
  /// True if the body is a part of the file, or all of it.
  [[nodiscard]] bool has_bytes() const noexcept { return status == 200 || status == 206; }
};

/// One part of an answer with several ranges.
struct RangePart {
  ContentRange range;
  Bytes bytes;
};

/// Parses a body of type multipart/byteranges (RFC 9110, 14.6). Nothing if it is broken: bytes are missing, or a part
/// does not have the bytes that its range announces. Views of `body`. Cost: O(body).
std::optional<std::vector<RangePart>> parse_multipart(Bytes body, std::string_view content_type);

}  // namespace onnxar
