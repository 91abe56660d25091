// What is called for each tensor.
package io.github.onnxar;

import java.io.IOException;

/** Receives the tensors of a model, one after the other. */
public interface TensorVisitor {
  /** Uses a tensor. An exception ends the visit. */
  void visit(Tensor tensor) throws IOException;
}
