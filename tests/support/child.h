// Runs a part of a test in a process of its own, on every system.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

/// Runs `action`, which returns an int, in a process of its own, and expects this number. GoogleTest starts the
/// process: where the system cannot copy one, it runs the test up to this line once more. So the action makes its files
/// itself.
#define ONNXAR_EXPECT_IN_CHILD(action, code) EXPECT_EXIT(std::_Exit((action)()), ::testing::ExitedWithCode(code), "")
