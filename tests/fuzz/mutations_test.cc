// Mutations keep the structure of what they change: otherwise readers would refuse nearly all mutants for the same
// reason.
#include "fuzz/mutations.h"

#include <gtest/gtest.h>

#include "fuzz/fuzz.h"
#include "onnxar/archive.h"
#include "onnxar/onnx.pb.h"
#include "support/zip_builder.h"

namespace onnxar::fuzz {

/// In place of mutator.cc, which calls libFuzzer.
Blob mutate_bytes(Blob bytes) {
  bytes.push_back(std::byte{7});
  return bytes;
}
std::uint64_t odd_number(Random& random, std::uint64_t value) { return one_in(random, 2) ? value + 1 : 0xffffffff; }

namespace {

constexpr unsigned mutants = 2000;

bool opens(const Blob& bytes) {
  return accepted([&] { return Archive::open(bytes, nullptr).size(); }).has_value();
}

TEST(Mutations, MostModelsStayMessagesAndNearlyAllChange) {
  const Blob model = testing::smallest_model();
  unsigned parsed = 0;
  unsigned changed = 0;
  for (unsigned seed = 1; seed <= mutants; ++seed) {
    Random random(seed);
    const Blob mutant = mutate_model(model, random);
    schema::ModelProto message;
    parsed += message.ParsePartialFromArray(mutant.data(), static_cast<int>(mutant.size())) ? 1U : 0U;
    changed += mutant != model ? 1U : 0U;
  }
  EXPECT_GT(parsed, mutants * 9 / 10);
  EXPECT_GT(changed, mutants * 8 / 10);
}

TEST(Mutations, MostCrossedModelsAreMessages) {
  unsigned parsed = 0;
  for (unsigned seed = 1; seed <= mutants; ++seed) {
    Random random(seed);
    const Blob crossed = cross_models(testing::smallest_model(), testing::smallest_model(3, "other"), random);
    schema::ModelProto message;
    parsed += message.ParsePartialFromArray(crossed.data(), static_cast<int>(crossed.size())) ? 1U : 0U;
  }
  EXPECT_GT(parsed, mutants * 9 / 10);
}

TEST(Mutations, ManyZipsOpenAndManyAreRefused) {
  const Blob archive = testing::smallest_archive().bytes;
  unsigned opened = 0;
  unsigned same = 0;
  for (unsigned seed = 1; seed <= mutants; ++seed) {
    Random random(seed);
    const Blob mutant = mutate_zip(archive, random);
    same += mutant == archive ? 1U : 0U;
    opened += mutant != archive && opens(mutant) ? 1U : 0U;
  }
  EXPECT_GT(opened, mutants / 10);
  EXPECT_LT(opened, mutants * 4 / 5);
  EXPECT_LT(same, mutants / 4);
}

TEST(Mutations, BytesOfNoFormatAreMutatedAsBytes) {
  Random random(1);
  const Blob bytes(100, std::byte{0xff});
  EXPECT_NE(mutate_model(bytes, random), bytes);
  EXPECT_FALSE(mutate_zip(bytes, random).empty());
}

}  // namespace
}  // namespace onnxar::fuzz
