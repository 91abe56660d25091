// An exporter: streams tensors of any size into an archive, one after another, and writes the model last.
//
//   exporter_write ARCHIVE [TENSORS [MIB]]
//
// The model adds TENSORS weights of MIB MiB each to its input. They are made piece by piece, so memory stays bounded
// whatever their size; an exporter would take them from a device, a network or a file. It would also use a protobuf
// library for the ModelProto; here a few lines encode the fields that are needed.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace {

// --- a ModelProto by hand -------------------------------------------------------------------------------------------

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}
std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
std::string text(std::uint32_t field, std::string_view value) {
  return varint(field << 3U | 2U) + varint(value.size()) + std::string(value);
}

constexpr std::uint64_t float_type = 1;

/// A TensorProto whose data is the entry `key`: dims, data_type, name, external_data, data_location. Some readers of
/// external_data take its pairs by position, so all three are written, in this order.
std::string linked_tensor(const std::string& name, const std::string& key, std::uint64_t elements) {
  const auto pair = [](std::string_view pair_key, const std::string& value) {
    return text(13, text(1, pair_key) + text(2, value));
  };
  return number(1, elements) + number(2, float_type) + text(8, name) + pair("location", key) + pair("offset", "0") +
         pair("length", std::to_string(elements * sizeof(float))) + number(14, 1);
}

/// A ValueInfoProto: a row of floats.
std::string row(const std::string& name, std::uint64_t elements) {
  const std::string shape = text(1, number(1, elements));
  return text(1, name) + text(2, text(1, number(1, float_type) + text(2, shape)));
}

std::string add_node(const std::string& left, const std::string& right, const std::string& sum) {
  return text(1, left) + text(1, right) + text(2, sum) + text(4, "Add");
}

std::string model_of(const std::string& graph) {
  return number(1, 8) + text(2, "exporter_write") + text(7, graph) + text(8, number(2, 17));
}

// --- the weights ----------------------------------------------------------------------------------------------------

/// A number of a tensor is little-endian on every host.
void put(float value, std::byte* target) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (unsigned i = 0; i < 4; ++i) target[i] = static_cast<std::byte>((bits >> 8 * i) & 0xffU);
}

/// Gives `elements` floats, as many at a time as there is room for. Element i is `first` + i / 2^20.
onnxar::StreamReader floats(std::uint64_t elements, float first) {
  return [elements, first, next = std::uint64_t{0}](std::span<std::byte> target) mutable {
    const std::uint64_t count = std::min<std::uint64_t>(elements - next, target.size() / sizeof(float));
    for (std::uint64_t i = 0; i < count; ++i, ++next) {
      const float value = first + static_cast<float>(next) / static_cast<float>(1U << 20U);
      put(value, target.data() + i * sizeof value);
    }
    return static_cast<std::size_t>(count * sizeof(float));
  };
}

void write(const std::string& path, std::uint64_t tensors, std::uint64_t mib) {
  const std::uint64_t elements = (mib << 20U) / sizeof(float);
  onnxar::WriterOptions options;
  options.output.overwrite = true;
  onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(path, options);  // nothing is seen before finish()
  onnxar::KeyMaker keys;
  std::string nodes, initializers, sum = "x";
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const std::string name = "layer." + std::to_string(i) + ".weight";  // in the model; the key is an identifier
    const std::string key = keys.make(name);
    writer.add(key, elements * sizeof(float), floats(elements, static_cast<float>(i)));
    initializers += text(5, linked_tensor(name, key, elements));
    const std::string next = i + 1 == tensors ? "y" : "sum." + std::to_string(i);
    nodes += text(1, add_node(sum, name, next));
    sum = next;
  }
  const std::string graph =
      nodes + text(2, "sums") + initializers + text(11, row("x", elements)) + text(12, row("y", elements));
  writer.finish(onnxar::as_bytes(model_of(graph)));
  std::cout << "wrote " << tensors << " weights of " << mib << " MiB to " << onnxar::escaped(path) << '\n';
}

std::uint64_t count_of(const std::string& word) {
  std::size_t read = 0;
  const unsigned long long count = word.starts_with("-") ? 0 : std::stoull(word, &read);
  if (count == 0 || read != word.size()) throw onnxar::Error(onnxar::Code::usage_argument, "no such count: " + word);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.size() > 3) {
    std::cerr << "usage: exporter_write ARCHIVE [TENSORS [MIB]]\n";
    return 2;
  }
  try {
    write(words[0], words.size() > 1 ? count_of(words[1]) : 4, words.size() > 2 ? count_of(words[2]) : 1);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "exporter_write: " << error.what() << '\n';
    return 1;
  }
}
