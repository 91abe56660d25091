// Links whose archive is replaced, and put back, while a session is made of them.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "runtime/linking.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(LinkTest, UseOfUnchangedFilesIsVerified) {
  const fs::path link = written();
  const Link in_memory = make_link(archive_);
  int uses = 0;
  EXPECT_TRUE(verify_link(link, [&] { ++uses; }));
  EXPECT_TRUE(verify_link(in_memory.model, in_memory.folder, [&] { ++uses; }));
  const fs::path plain = folder_.write_file("plain.onnx", model_of({floats("w", 2)}).view());
  EXPECT_FALSE(verify_link(plain, [&] { ++uses; }));
  EXPECT_EQ(uses, 3);
}

TEST_F(LinkTest, ArchiveThatIsBackAfterItsUseIsNoticed) {
  const fs::path link = written(), aside = folder_ / "aside";
  const Link in_memory = make_link(archive_);
  const auto away = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the clock
    fs::rename(archive_, aside);
    fs::copy_file(aside, archive_);
    fs::rename(aside, archive_);
  };
  EXPECT_EQ(code_of([&] { verify_link(link, away); }), Code::io_changed);
  EXPECT_EQ(code_of([&] { verify_link(in_memory.model, in_memory.folder, away); }), Code::io_changed);
  EXPECT_TRUE(verify_link(link)) << "it is valid again";
}

}  // namespace
}  // namespace onnxar::testing
