// Sources that callers wrote, held to what they announce.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::base {

/// A source that gives exactly the bytes that it announces, or throws, whatever the one that it reads does. That one
/// may give more or fewer, may state another size at every call, and may swallow what its sink throws and go on: a
/// failure of the sink is thrown again when it has returned, and no byte reaches the sink after it.
class ExactSource final : public ByteSource {
 public:
  /// Asks `source`, which must outlive this, for its size, once. Messages call it `what` and name `place`.
  explicit ExactSource(const ByteSource& source, std::string what = "the data", Place place = {});
  /// The same, with a share in `source`. REQUIRES: it is not null.
  explicit ExactSource(std::shared_ptr<const ByteSource> source, std::string what = "the data", Place place = {});

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Errors: io.source_size (more or fewer bytes than announced); what the source or `sink` throws.
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override { source_->locate(visit); }

 private:
  [[noreturn]] void refuse(std::string_view how) const;

  std::shared_ptr<const ByteSource> source_;
  std::uint64_t size_;
  std::string what_;
  Place place_;
};

}  // namespace onnxar::base
