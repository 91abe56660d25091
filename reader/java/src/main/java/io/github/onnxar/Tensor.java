// A tensor of a model.
package io.github.onnxar;

import java.nio.*;
import java.util.Optional;

/**
 * A tensor whose rules are checked.
 *
 * @param name the name; one that is not UTF-8 has replacement characters
 * @param output the output of the Constant node whose value this tensor is: nodes refer to the weight by that name
 * @param site the place in the model, such as {@code graph.initializer[3]}
 * @param graph the number of its graph: 0 for the main graph. Subgraphs and functions may use the same names again
 * @param dims the dimensions, which are not negative
 * @param dataType the number of {@code TensorProto.DataType}, which is never 0
 * @param kind where the values are
 * @param entry the entry that has the data of a linked tensor
 * @param offset the offset of linked or inline data in the archive; -1 for the other kinds
 * @param size the number of bytes of linked or inline data
 * @param message the serialised TensorProto
 * @param data the bytes of a linked or inline tensor, in place and little-endian, as {@code raw_data} has them; for
 *     FLOAT, read {@code data().asFloatBuffer()}
 */
public record Tensor(String name, Optional<String> output, String site, int graph, long[] dims, int dataType, Kind kind,
    Optional<Entry> entry, long offset, long size, ByteBuffer message, ByteBuffer data) {
  /** Where the values of a tensor are. */
  public enum Kind {
    /** Nowhere: it has no elements, or is filled in later. */
    NONE,
    /** In {@code raw_data} of the model. */
    INLINE,
    /** In an entry. */
    LINKED,
    /** In a typed field of the model, which {@link Tensor#message} has. */
    TYPED
  }

  /** Returns the serialised TensorProto, as a view of its own. */
  public ByteBuffer message() { return message.duplicate().order(ByteOrder.LITTLE_ENDIAN); }

  /**
   * Returns the bytes of a linked or inline tensor, as a view of its own. Empty for the other kinds.
   *
   * @throws IllegalStateException if one buffer cannot have the data, which may happen above 1.75 GiB. {@link
   *     OnnxArchive#bytes} reads it in parts.
   */
  public ByteBuffer data() {
    if (data == null) throw new IllegalStateException(size + " bytes are too many for one buffer");
    return data.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }
}
