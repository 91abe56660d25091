// An archive in bytes that are gone at the semicolon.
#include <vector>

#include "onnxar/archive.h"

std::size_t dangling() { return onnxar::Archive::open(std::vector<std::byte>(100), nullptr).size(); }
