// The verbs: each function checks its arguments, calls the C++ function of that name, and fills in a report.
#include <span>
#include <utility>
#include <vector>

#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "c/options.h"
#include "c/report.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/link.h"
#include "os/names.h"

namespace onnxar::c {
namespace {

/// A number that a verb does not have stays 0: callers read all reports by the same numbers.
onnxar_report report_of(ConvertReport done) {
  onnxar_report report;
  report.numbers[ONNXAR_REPORT_FILE_BYTES] = done.file_bytes;
  report.numbers[ONNXAR_REPORT_MODEL_BYTES] = done.model_bytes;
  report.numbers[ONNXAR_REPORT_DATA_BYTES] = done.payload_bytes;
  report.numbers[ONNXAR_REPORT_TENSORS] = done.tensors_outside;
  report.numbers[ONNXAR_REPORT_ENTRIES] = done.payloads;
  report.findings = std::move(done.remarks);
  return report;
}

onnxar_report report_of(RepackReport done) {
  onnxar_report report;
  report.numbers[ONNXAR_REPORT_FILE_BYTES] = done.file_bytes;
  report.numbers[ONNXAR_REPORT_FILE_BYTES_BEFORE] = done.input_bytes;
  report.numbers[ONNXAR_REPORT_ENTRIES] = done.entries;
  report.findings = std::move(done.remarks);
  return report;
}

onnxar_report report_of(ReplaceReport done) {
  onnxar_report report;
  report.numbers[ONNXAR_REPORT_FILE_BYTES] = done.file_bytes;
  report.numbers[ONNXAR_REPORT_FILE_BYTES_BEFORE] = done.file_bytes_before;
  report.numbers[ONNXAR_REPORT_MODEL_BYTES] = done.model_bytes;
  report.numbers[ONNXAR_REPORT_DATA_BYTES] = done.bytes_added;
  report.numbers[ONNXAR_REPORT_TENSORS] = done.tensors_outside;
  report.numbers[ONNXAR_REPORT_ENTRIES] = done.entries_added;
  report.findings = std::move(done.remarks);
  return report;
}

onnxar_report report_of(const EarlierState& state) {
  onnxar_report report;
  report.numbers[ONNXAR_REPORT_FILE_BYTES] = state.size;
  report.numbers[ONNXAR_REPORT_FILE_BYTES_BEFORE] = state.file_size;
  report.numbers[ONNXAR_REPORT_MODEL_BYTES] = state.model_size;
  report.numbers[ONNXAR_REPORT_ENTRIES] = state.entries;
  return report;
}

onnxar_report report_of(const LinkReport& done) {
  onnxar_report report;
  report.numbers[ONNXAR_REPORT_FILE_BYTES] = report.numbers[ONNXAR_REPORT_MODEL_BYTES] = done.model_bytes;
  report.numbers[ONNXAR_REPORT_TENSORS] = done.tensors;
  return report;
}

onnxar_report report_of(const std::vector<ExtractedTensor>& done) {
  onnxar_report report;
  for (const ExtractedTensor& tensor : done) report.numbers[ONNXAR_REPORT_FILE_BYTES] += tensor.file_bytes;
  report.numbers[ONNXAR_REPORT_TENSORS] = done.size();
  return report;
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_pack(uint32_t abi, const char* model, const char* archive,
                                          const onnxar_options* options, onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(model != nullptr, "model");
    check_argument(archive != nullptr, "archive");
    const VerbOptions given(options, Verb::pack);
    give_report(report,
                [&] { return report_of(pack(os::path_of(model), os::path_of(archive), given.save(), given.load())); });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_pack_models(uint32_t abi, const onnxar_added_file* models, size_t count,
                                                 const char* archive, const onnxar_options* options,
                                                 onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(models != nullptr || count == 0, "models");
    check_argument(archive != nullptr, "archive");
    std::vector<ModelFile> files;
    for (const onnxar_added_file& model : std::span(models, count)) {
      check_argument(model.path != nullptr, "models.path");
      files.push_back({os::path_of(model.path), model.name == nullptr ? "" : model.name});
    }
    const VerbOptions given(options, Verb::pack);
    give_report(report, [&] { return report_of(pack(files, os::path_of(archive), given.save(), given.load())); });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_unpack(uint32_t abi, const char* archive, const char* model,
                                            const onnxar_options* options, onnxar_report** report,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    check_argument(model != nullptr, "model");
    const VerbOptions given(options, Verb::unpack);
    give_report(report, [&] {
      return report_of(unpack(os::path_of(archive), os::path_of(model), given.save(), given.load()));
    });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_check(uint32_t abi, const char* path, const onnxar_options* options,
                                           onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(path != nullptr, "path");
    // The findings are the only result: a check without a report would tell nothing.
    check_argument(report != nullptr, "report");
    give_report(report, [&] {
      onnxar_report made;
      made.findings = check(os::path_of(path), VerbOptions(options, Verb::check).check());
      return made;
    });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_repack(uint32_t abi, const char* zip, const char* archive,
                                            const onnxar_options* options, onnxar_report** report,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(zip != nullptr, "zip");
    check_argument(archive != nullptr, "archive");
    give_report(report, [&] {
      return report_of(repack(os::path_of(zip), os::path_of(archive), VerbOptions(options, Verb::repack).repack()));
    });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_replace(uint32_t abi, const char* archive, const char* model,
                                             const onnxar_options* options, onnxar_report** report,
                                             onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    const VerbOptions given(options, Verb::replace);
    const ReplaceOptions replacing = given.replace();
    if (model == nullptr && replacing.add.empty() && replacing.remove.empty()) {
      throw Error(Code::usage_argument, "nothing to replace: give a model, or names in `add` or `remove`");
    }
    give_report(report, [&] {
      return report_of(model == nullptr ? replace(os::path_of(archive), replacing)
                                        : replace(os::path_of(archive), os::path_of(model), replacing, given.load()));
    });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_undo(uint32_t abi, const char* archive, const onnxar_options* options,
                                          onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    give_report(report,
                [&] { return report_of(undo(os::path_of(archive), VerbOptions(options, Verb::undo).output())); });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_recover(uint32_t abi, const char* archive, const onnxar_options* options,
                                             onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    give_report(report,
                [&] { return report_of(recover(os::path_of(archive), VerbOptions(options, Verb::recover).output())); });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_link(uint32_t abi, const char* archive, const char* model,
                                          const onnxar_options* options, onnxar_report** report, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    check_argument(model != nullptr, "model");
    give_report(report, [&] {
      return report_of(onnxar::link(os::path_of(archive), os::path_of(model), VerbOptions(options, Verb::link).link()));
    });
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_extract(uint32_t abi, const char* model, const char* which, const char* output,
                                             const onnxar_options* options, onnxar_report** report,
                                             onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(model != nullptr, "model");
    check_argument(which != nullptr, "which");
    check_argument(output != nullptr, "output");
    const VerbOptions given(options, Verb::extract);
    give_report(report,
                [&] { return report_of(extract(os::path_of(model), which, os::path_of(output), given.extract())); });
  });
}
