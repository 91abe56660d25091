// The name of an entry lives as long as its archive.
#include "onnxar/archive.h"

auto dangling() { return onnxar::Archive::open("a.onnxar").entry(0).name; }
