// Damaged archives: each is read or refused, and never fails in another way.
package io.github.onnxar;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MutationsTest {
  private static final int EACH = 200; // of one file
  private static final int LARGEST = 16384;

  /** Returns true if the archive is accepted. */
  private static boolean reads(byte[] file, Path original) throws IOException {
    try {
      OnnxArchive archive = OnnxArchive.of(ByteBuffer.wrap(file), Limits.DEFAULT);
      archive.check(true);
      for (Tensor tensor : archive.tensors()) assertTrue(tensor.data().remaining() >= 0);
      archive.link("m.onnxar");
      return true;
    } catch (ArchiveException error) {
      return false;
    } catch (RuntimeException error) {
      throw new AssertionError(original + " was changed", error);
    }
  }

  private static byte[] mutated(byte[] file, Random random) {
    byte[] copy = Arrays.copyOf(file, random.nextInt(20) == 0 ? random.nextInt(file.length) : file.length);
    for (int i = random.nextInt(3); i >= 0 && copy.length > 0; --i) {
      int[] values = {0, 1, 0x7F, 0x80, 0xFF, random.nextInt(256)};
      copy[random.nextInt(copy.length)] = (byte) values[random.nextInt(values.length)];
    }
    return copy;
  }

  @Test
  void damagedFilesAreReadOrRefused() throws IOException {
    Random random = new Random(1);
    int refused = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(VectorsTest.VECTORS.resolve("valid"))) {
      for (Path path : files) {
        byte[] file = Files.readAllBytes(path);
        for (int i = 0; i < EACH && file.length <= LARGEST; ++i) if (!reads(mutated(file, random), path)) ++refused;
      }
    }
    assertTrue(refused > 1000, refused + " were refused");
  }
}
