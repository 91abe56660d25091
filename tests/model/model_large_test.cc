// Models with more than 2 GiB of weights, the limit of a protobuf message.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

/// Zeros that take no memory until they are written.
class Zeros {
 public:
  explicit Zeros(std::size_t size)
      : size_(size),
        memory_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory");
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  ~Zeros() { ::munmap(memory_, size_); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t size_;
  void* memory_;
};

TEST(LargeModel, FilesHoldASharedBufferOnce) {
  constexpr std::size_t size = 16U << 20U;
  constexpr int tensors = 160;  // 2.5 GiB together
  const Zeros zeros(size);
  Model model;
  for (int i = 0; i < tensors; ++i) {
    model.set_payload(add_initializer(model, "w" + std::to_string(i), dtype::uint8, {size}),
                      ByteSpan::borrow(Bytes(zeros.data(), size)));
  }
  const TempDir folder;
  for (const Format format : {Format::archive, Format::onnx_external}) {
    const ConvertReport report = model.save(folder / "out", saved_as(format, over_existing));
    EXPECT_EQ(report.tensors_outside, static_cast<std::uint64_t>(tensors));
    EXPECT_EQ(report.payloads, 1U);
    const Model again = Model::load(folder / "out");
    EXPECT_EQ(again.payload(initializer(again, tensors - 1)).size(), size);
    EXPECT_EQ(again.span(initializer(again, 0)).bytes().data(), again.span(initializer(again, 1)).bytes().data());
  }
  EXPECT_EQ(error_of([&] { model.save(folder / "inline", saved_as(Format::onnx_inline)); }).code(),
            Code::onnx_model_too_large);
  EXPECT_FALSE(std::filesystem::exists(folder / "inline"));
}

TEST(LargeModelSlow, WeightsOfMoreThan2GiBAreSavedAndComeBack) {
  constexpr std::size_t size = 300U << 20U;
  constexpr std::size_t tensors = 8;  // 2.3 GiB together
  const Zeros zeros(tensors * size);
  Model model;
  for (std::size_t i = 0; i < tensors; ++i) {
    std::byte* begin = zeros.data() + i * size;
    begin[0] = begin[size - 1] = static_cast<std::byte>(i + 1);
    model.set_payload(add_initializer(model, "w" + std::to_string(i), dtype::uint8, {size}),
                      ByteSpan::borrow(Bytes(begin, size)));
  }
  for (const Format format : {Format::archive, Format::onnx_external}) {
    const TempDir folder;
    EXPECT_EQ(model.save(folder / "out", saved_as(format)).payload_bytes, tensors * size);
    const Model again = Model::load(folder / "out");
    for (std::size_t i = 0; i < tensors; ++i) {
      const Bytes bytes = again.span(initializer(again, static_cast<int>(i))).bytes();
      ASSERT_EQ(bytes.size(), size);
      EXPECT_EQ(bytes.front(), static_cast<std::byte>(i + 1));
      EXPECT_EQ(bytes.back(), static_cast<std::byte>(i + 1));
      EXPECT_EQ(bytes[size / 2], std::byte{0});
    }
  }
}

}  // namespace
}  // namespace onnxar::testing
