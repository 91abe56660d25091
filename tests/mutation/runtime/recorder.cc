// Linked into each test program of the build for mutation testing: writes which sites each test executed, as lines
// `Suite.Name milliseconds site site ...`, to the file that ONNXAR_MUTATION_RECORD names.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "mutate.h"

namespace onnxar::mutate {
namespace {

class Recorder : public ::testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : out_(path) {}

 private:
  void OnTestEnd(const ::testing::TestInfo& test) override {
    out_ << test.test_suite_name() << '.' << test.name() << ' ' << test.result()->elapsed_time();
    for (int site = 0; site < ONNXAR_MUTATION_SITES; ++site) {
      if (seen[site] != 0) out_ << ' ' << site;
    }
    out_ << '\n';
    std::memset(seen, 0, ONNXAR_MUTATION_SITES);
  }

  std::ofstream out_;
};

[[maybe_unused]] const bool installed = [] {
  if (const char* path = std::getenv("ONNXAR_MUTATION_RECORD")) {
    ::testing::UnitTest::GetInstance()->listeners().Append(
        new Recorder(path));  // NOLINT(*-owning-memory): GoogleTest owns it
  }
  return true;
}();

}  // namespace
}  // namespace onnxar::mutate
