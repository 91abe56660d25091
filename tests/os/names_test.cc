// Text and paths, and names that are devices of Windows.
#include "os/names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace onnxar::os {
namespace {

TEST(Text, OfAPathIsThatOfWhichItWasMade) {
  for (const std::string_view text : {"", "a", "a/b.onnx", "a\xc3\xa4\xf0\x9f\x98\x80", "a b"}) {
    EXPECT_EQ(slashed_text_of(path_of(text)), text);
  }
  EXPECT_EQ(slashed_text_of(std::filesystem::path("a") / "b" / "c.txt"), "a/b/c.txt");
}

TEST(DeviceNames, AreKnownInAnyCaseAndWithAnyEnd) {
  for (const std::string_view name : {"CON", "con", "Prn", "aux", "NUL", "nul.txt", "nul.tar.gz", "COM0", "com9.onnx",
                                      "LPT1", "COM\xc2\xb9", "lpt\xc2\xb3.x", "conin$", "CONOUT$.txt", "aux .bin"}) {
    EXPECT_TRUE(is_device_name(name)) << name;
  }
}

TEST(DeviceNames, OthersAreFiles) {
  for (const std::string_view name : {"", "a", "con1", "console", "xcon", "COM", "COM10", "LPTX", "COM\xc2\xb4", ".nul",
                                      "conin", "a.con", "nul_txt"}) {
    EXPECT_FALSE(is_device_name(name)) << name;
  }
}

}  // namespace
}  // namespace onnxar::os
