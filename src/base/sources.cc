// Checks how many bytes a caller's source delivers, and gathers and compares its bytes.
#include "base/sources.h"

#include <cstring>
#include <exception>
#include <utility>

#include "base/checked.h"
#include "base/kept.h"
#include "base/text.h"

namespace onnxar::base {

std::uint64_t add_announced(std::uint64_t total, std::uint64_t size, const Place& place, std::uint64_t limit) {
  const auto sum = checked_add(total, size);
  if (sum && *sum <= limit) return *sum;
  throw Error(Code::usage_argument, concat("the data would be over the limit of ", human_size(limit)), place);
}

Error source_size_error(std::string_view what, std::string_view how, std::uint64_t announced, const Place& place) {
  return {Code::io_source_size, concat(what, " is ", how, " than the ", announced, " bytes that were announced"),
          place};
}

// The aliasing constructor with an empty owner makes a pointer that owns nothing.
ExactSource::ExactSource(Kept<const ByteSource> source, std::string what, Place place)
    : ExactSource(std::shared_ptr<const ByteSource>(std::shared_ptr<void>(), &source.get()), std::move(what),
                  std::move(place)) {}

ExactSource::ExactSource(std::shared_ptr<const ByteSource> source, std::string what, Place place)
    : source_(std::move(source)), size_(source_->size()), what_(std::move(what)), place_(std::move(place)) {}

void ExactSource::refuse(std::string_view how) const { throw source_size_error(what_, how, size_, place_); }

void ExactSource::read(const ByteSink& sink) const {
  std::uint64_t left = size_;
  std::exception_ptr failure;
  source_->read([&](Bytes piece) {
    if (failure) std::rethrow_exception(failure);  // the source swallowed it and continued
    try {
      if (piece.size() > left) refuse("longer");
      sink(piece);
      left -= piece.size();
    } catch (...) {
      failure = std::current_exception();
      throw;
    }
  });
  if (failure) std::rethrow_exception(failure);
  if (left != 0) refuse("shorter");
}

std::optional<Bytes> in_one_piece(const ByteSource& source) {
  std::optional<Bytes> whole;
  source.locate([&](const Location& run) {
    if (run.bytes.size() == source.size()) whole = run.bytes;
  });
  return whole;
}

std::vector<std::byte> gathered(const ByteSource& source) {
  std::vector<std::byte> all;
  all.reserve(in_memory(source.size()));
  source.read([&all](Bytes piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

bool has_bytes(const ByteSource& source, Bytes bytes) {
  bool same = true;
  source.read([&](Bytes piece) {
    // A sink can stop the source early only by an exception, which the library would rethrow.
    same = same && piece.size() <= bytes.size() &&
           (piece.empty() || std::memcmp(piece.data(), bytes.data(), piece.size()) == 0);
    if (same) bytes = bytes.subspan(piece.size());
  });
  return same && bytes.empty();
}

}  // namespace onnxar::base
