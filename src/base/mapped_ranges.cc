#include "base/mapped_ranges.h"

#include <array>
#include <atomic>

#include "onnxar/error.h"

namespace onnxar::base {
namespace {

struct Place {
  std::atomic<std::uintptr_t> begin = unused;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<const std::string*> text = nullptr;

  // No mapping begins at such a low address.
  static constexpr std::uintptr_t unused = 0, being_filled = 1;
};

// Fixed places with atomics instead of a list with a lock: the interrupted thread could hold that lock.
std::array<Place, 1024> places;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<const std::string*>::is_always_lock_free);

}  // namespace

MappedRange::MappedRange(Bytes mapping, const std::filesystem::path& path) : place_(places.size()) {
  if (path.empty() || mapping.empty()) return;
  text_ = escaped_path(path);
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  for (place_ = 0; place_ < places.size(); ++place_) {
    Place& place = places.at(place_);
    std::uintptr_t expected = Place::unused;
    if (!place.begin.compare_exchange_strong(expected, Place::being_filled)) continue;
    place.end = begin + mapping.size();
    place.text = &text_;
    place.begin = begin;  // last: a handler recognises a place in use by it
    return;
  }
}

MappedRange::~MappedRange() {
  if (place_ < places.size()) places.at(place_).begin = Place::unused;
}

std::string_view mapped_file_at(const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (const Place& place : places) {
    const std::uintptr_t begin = place.begin;
    if (begin <= Place::being_filled || wanted < begin || wanted >= place.end) continue;
    const std::string* const text = place.text;
    // Otherwise the place was given to another mapping meanwhile. That of the address stays: it is being read.
    if (place.begin == begin) return *text;
  }
  return {};
}

}  // namespace onnxar::base
