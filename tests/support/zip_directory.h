// Zip directories as text: a test that fails prints those of the zip files that it last handled.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace onnxar::testing {

/// Returns a line for each entry that the directory lists: name, offsets of header and data, sizes, method, and the
/// lengths of the extra fields (local + central). Says where the bytes are not what the end record states. Throws
/// nothing because of the bytes.
std::string zip_directory(std::span<const std::byte> bytes);

/// Keeps a copy of a zip file, one for each `role` ("built") of this thread. If the test fails, it prints their
/// directories. The builder, the folder for tests and the fixtures of `zip` and `archive` call this; tests need not.
void note_zip(std::string_view role, std::span<const std::byte> bytes);

}  // namespace onnxar::testing
