// Writes shapes as text for the command.
#include "model/front_end.h"

#include <string>

#include "base/sources.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {

std::string shape_text(const std::vector<Dimension>& dims, const std::function<std::string(const std::string&)>& name) {
  base::check_namer(name);
  std::string text;
  for (const Dimension& dim : dims) {
    text += base::concat(text.empty() ? "" : ",", dim.value          ? std::to_string(*dim.value)
                                                  : dim.name.empty() ? "?"
                                                                     : name(dim.name));
  }
  return base::concat("[", text, "]");
}

}  // namespace onnxar
