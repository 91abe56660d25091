// Uses core and model: builds a model, saves it as an archive, maps and checks that, and makes a link to it, which
// programs that name only core may do.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "onnxar/model/model.h"
#include "onnxar/version.h"

// A section that only tools read: the link must keep it.
[[gnu::used, gnu::section("build_meta")]] static const char build_meta[] = "section of the consumer";

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    onnxar::Model model;
    auto* tensor = model.proto().mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(1);
    tensor->add_dims(512);
    model.set_payload(*tensor, onnxar::ByteSpan::own(std::vector<std::byte>(2048)));
    model.save(argv[1]);
    const onnxar::Archive archive = onnxar::Archive::open(argv[1]);
    const bool good = archive.resolve("w").size() == 2048 && onnxar::passed(onnxar::check(argv[1])) &&
                      onnxar::make_link(argv[1]).tensors == 1;
    std::printf("onnxar %s: %s\n", ONNXAR_VERSION_STRING, good ? "good" : "not good");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
