// Opens and keeps models as ONNX Runtime stored them, for C.
#include <cstdint>
#include <memory>
#include <string>

#include "c/boundary.h"
#include "onnxar/error.h"
#include "onnxar/stored_model.h"
#include "os/names.h"

struct onnxar_stored {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::StoredModel model;
  std::string folder = {}, output = {}, why = {};
};

namespace onnxar::c {
namespace {

onnxar_session_source source_of(onnxar_stored& stored) {
  stored.folder = os::text_of(stored.model.link().folder);
  return {c_bytes(stored.model.link().model),
          stored.folder.c_str(),
          stored.output.c_str(),
          stored.why.c_str(),
          stored.model.is_stored() ? 1 : 0,
          0};
}

/// A model that cannot be stored is used as it is.
void prepare(onnxar_stored& stored) {
  try {
    stored.output = os::text_of(stored.model.prepare());
  } catch (const Error& error) {
    stored.why = error.what();
  }
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_open_stored(uint32_t abi, const char* file, const char* archive, const char* graph,
                                                 const char* runtime, const char* settings, onnxar_stored** stored,
                                                 onnxar_session_source* source, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("file", file, "archive", archive, "runtime", runtime, "settings", settings, "stored", stored, "source",
                source);
    const StoredModel::Key key{os::path_of(archive), graph == nullptr ? "" : graph, runtime, settings};
    auto made = std::make_unique<onnxar_stored>(StoredModel::open(os::path_of(file), key));
    if (!made->model.is_stored()) prepare(*made);
    *source = source_of(*made);
    *stored = made.release();
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_keep_stored(onnxar_stored* stored, onnxar_session_source* source,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_given("stored", stored, "source", source);
    if (stored->output.empty()) {
      stored->model.verify();
    } else {
      stored->output.clear();  // after an error there is nothing to keep
      stored->model.store();
    }
    *source = source_of(*stored);
  });
}

ONNXAR_C_EXPORT void onnxar_stored_free(onnxar_stored* stored) { delete stored; }
