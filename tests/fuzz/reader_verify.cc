// Any archive with further graphs and superseded states. The reader of reader/ checks all of it, in memory and by
// callbacks, and verifies each entry. The library's check gives the same verdict.
#include "fuzz/c_reader.h"
#include "fuzz/scratch.h"

namespace onnxar::fuzz::reader_verify_target {
namespace {

/// What the check of a sound archive promises: its models can be walked, and each entry has its CRC-32.
void check_sound(const CReader& archive) {
  for (std::size_t i = 0; i < onnxar_reader_count(archive.get()); ++i) {
    require(onnxar_reader_verify(archive.get(), i, nullptr) == 0, "each entry has its CRC-32");
    const bool is_model = i == onnxar_reader_model(archive.get());
    if (!is_model && onnxar_reader_is_graph(archive.get(), i) == 0) continue;
    onnxar_reader_walk* walk = nullptr;
    onnxar_reader_tensor tensor;
    require(onnxar_reader_walk_open(archive.get(), i, &walk, nullptr) == 0, "each graph can be walked");
    int more = 1;
    while (more > 0) more = onnxar_reader_walk_next(walk, &tensor, nullptr);
    require(more == 0, "each walk comes to the end");
    onnxar_reader_walk_close(walk);
  }
}

}  // namespace

void run(Bytes input) {
  std::optional<Refusal> refusal;
  const CReader archive = open_in_memory(input, refusal);
  if (!archive) return;
  const auto of_check = refusal_of_check(archive, 0);
  const auto of_data = refusal_of_check(archive, OAR_CHECK_DATA);
  require(!of_check || of_check == of_data, "data is looked at last");
  if (is_turn(input, 0, 4)) {
    std::optional<Refusal> of_opening;
    const CReader by_callbacks = open_by_callbacks(input, of_opening);
    require(refusal_of_check(by_callbacks, OAR_CHECK_DATA) == of_data, "reading and mapping give the same verdict");
  }
  if (is_turn(input, 1, 4)) require_same_check(put("in.onnxar", input), of_data, true);
  if (!of_data) check_sound(archive);
}

}  // namespace onnxar::fuzz::reader_verify_target
