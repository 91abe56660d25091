// nodes ARCHIVE [GRAPH]: prints the nodes and the tensors of a model, or of a further graph of the archive. A C++17
// program on reader/onnxar_reader.c, without protobuf.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar_reader.h"

namespace {

struct Failed : std::runtime_error {
  explicit Failed(const onnxar_reader_error& error) : std::runtime_error(line(error)) {}
  static std::string line(const onnxar_reader_error& error) {
    std::string text(OAR_MESSAGE_SIZE, '\0');
    return onnxar_reader_message(&error, text.data(), text.size());
  }
};

struct Close {
  void operator()(onnxar_reader* archive) const { onnxar_reader_close(archive); }
  void operator()(onnxar_reader_walk* walk) const { onnxar_reader_walk_close(walk); }
};
using Archive = std::unique_ptr<onnxar_reader, Close>;
using Walk = std::unique_ptr<onnxar_reader_walk, Close>;

Archive open(const char* path) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error;
  if (onnxar_reader_open(path, nullptr, &archive, &error) < 0) throw Failed(error);
  return Archive(archive);
}

Walk walk(const Archive& archive, std::size_t index) {
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_error error;
  if (onnxar_reader_walk_open(archive.get(), index, &walk, &error) < 0) throw Failed(error);
  return Walk(walk);
}

/// The fields of this number in a message: texts and messages.
std::vector<std::string_view> fields(std::string_view message, std::uint32_t number) {
  std::vector<std::string_view> found;
  const void* at = message.data();
  std::size_t size = message.size();
  onnxar_reader_field field;
  while (onnxar_reader_next_field(&at, &size, &field) > 0) {
    if (field.number == number && field.wire_type == 2) {
      found.emplace_back(reinterpret_cast<const char*>(field.data), field.length);
    }
  }
  return found;
}

/// Names come from the file, so they may hold what a terminal obeys.
std::string shown(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string joined(const std::vector<std::string_view>& texts) {
  std::string out;
  for (const std::string_view text : texts) out += (out.empty() ? "" : ", ") + shown(text);
  return out;
}

void print_nodes(std::string_view model) {
  constexpr std::uint32_t graph = 7, node = 1, input = 1, output = 2, op_type = 4;  // of onnx.proto
  for (const std::string_view body : fields(model, graph)) {
    for (const std::string_view one : fields(body, node)) {
      std::printf("%s = %s(%s)\n", joined(fields(one, output)).c_str(), joined(fields(one, op_type)).c_str(),
                  joined(fields(one, input)).c_str());
    }
  }
}

void print_tensors(const Walk& walk) {
  onnxar_reader_tensor tensor;
  onnxar_reader_error error;
  int more = 0;
  while ((more = onnxar_reader_walk_next(walk.get(), &tensor, &error)) > 0) {
    std::string dims;
    for (std::size_t i = 0; i < tensor.rank; ++i) dims += (i == 0 ? "" : ",") + std::to_string(tensor.dims[i]);
    std::string site(onnxar_reader_walk_site(walk.get(), nullptr, 0) + 1, '\0');
    onnxar_reader_walk_site(walk.get(), site.data(), site.size());
    std::printf("%s: type %d [%s], %llu bytes, %s\n", shown({tensor.name, tensor.name_length}).c_str(),
                static_cast<int>(tensor.data_type), dims.c_str(), static_cast<unsigned long long>(tensor.size),
                site.c_str());
  }
  if (more < 0) throw Failed(error);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: nodes ARCHIVE [GRAPH]\n", stderr);
    return 2;
  }
  const Archive archive = open(argv[1]);
  const std::string graph = std::string(argc == 3 ? argv[2] : "") + ".onnx";
  const std::size_t index =
      argc == 3 ? onnxar_reader_find(archive.get(), graph.data(), graph.size()) : onnxar_reader_model(archive.get());
  if (index == OAR_NOT_FOUND) throw std::runtime_error("there is no such graph");
  const Walk opened = walk(archive, index);
  std::size_t size = 0;
  const auto* model = static_cast<const char*>(onnxar_reader_walk_model(opened.get(), &size));
  print_nodes({model, size});
  print_tensors(opened);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nodes: %s\n", error.what());
  return 1;
}
