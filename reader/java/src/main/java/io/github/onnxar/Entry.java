// An entry of an archive.
package io.github.onnxar;

/**
 * An entry: a weight, a side file, a graph or the model.
 *
 * @param name a key, and never a path to be opened
 * @param size the size in bytes
 * @param crc32 the CRC-32 that the directory states
 * @param index the place among the entries, in the order of the file
 * @param header the offset of the directory header
 * @param local the offset of the local header, which the data follows
 * @param alignment the alignment that the directory states, or 0
 */
public record Entry(String name, long size, int crc32, int index, long header, long local, int alignment) {
  static final String GRAPH_ENDING = ".onnx";

  /** True if the entry is a further model over the same weights, such as {@code decoder.onnx}. */
  public boolean isGraph() { return isGraph(name); }

  /** True if the name is that of a graph (G1). */
  static boolean isGraph(String name) {
    int length = name.length() - GRAPH_ENDING.length();
    return length > 0 && name.endsWith(GRAPH_ENDING) && name.charAt(length - 1) != '/';
  }
}
