// The name of an entry that was found lives as long as its archive.
#include "onnxar/archive.h"

auto dangling() { return onnxar::Archive::open("a.onnxar").find("w"); }
