// The limits of a reader.
package io.github.onnxar;

/**
 * Limits what an archive may cost.
 *
 * @param entries the largest number of entries ({@code zip.limit.entries})
 * @param directory the largest size of the directory in bytes ({@code zip.limit.directory})
 * @param model the largest size of {@code __MODEL_PROTO} in bytes ({@code archive.model.too_large})
 */
public record Limits(long entries, long directory, long model) {
  /** What every reader accepts: 2^20 entries, a directory of 256 MiB, a model of 2^31 - 1 bytes. */
  public static final Limits DEFAULT = new Limits(1 << 20, 256 << 20, Integer.MAX_VALUE);
}
