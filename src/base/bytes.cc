#include "onnxar/bytes.h"

#include "base/errors.h"

namespace onnxar {

void SpanSource::read(const ByteSink& sink) const {
  base::check_callable(sink, "the ByteSink");
  sink(bytes_);
}

}  // namespace onnxar
