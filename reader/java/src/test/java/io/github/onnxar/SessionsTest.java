// Sessions of ONNX Runtime. ONNXAR_MODEL is an archive with input x, output y and the graph "other". ONNXAR_APK has it at
// ONNXAR_APK_OFFSET.
package io.github.onnxar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

@EnabledIfEnvironmentVariable(named = "ONNXAR_MODEL", matches = ".+")
class SessionsTest {
  private static final OrtEnvironment ENVIRONMENT = OrtEnvironment.getEnvironment();

  private static Path model() {
    return Path.of(System.getenv("ONNXAR_MODEL"));
  }

  private static float[] run(OrtSession session) throws OrtException {
    float[][] ones = new float[1][64];
    Arrays.fill(ones[0], 1);
    try (session; OnnxTensor x = OnnxTensor.createTensor(ENVIRONMENT, ones);
        OrtSession.Result result = session.run(Map.of("x", x))) {
      return ((float[][]) result.get(0).getValue())[0];
    }
  }

  @Test
  void modelAndGraphRun() throws IOException, OrtException {
    float[] y = run(OnnxArchive.session(ENVIRONMENT, model()));
    assertTrue(y.length == 16 && y[0] != 0);
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      String graph = OnnxArchive.open(model()).graphs().get(0);
      assertArrayEquals(y, run(OnnxArchive.session(ENVIRONMENT, model(), graph, options)));
    }
  }

  @Test
  void archivesInOtherFilesRun(@TempDir Path folder) throws IOException, OrtException {
    Path outer = folder.resolve("base.apk");
    try (OutputStream out = Files.newOutputStream(outer)) {
      out.write(new byte[4096]);
      Files.copy(model(), out);
      out.write(new byte[100]);
    }
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      OrtSession session = OnnxArchive.session(ENVIRONMENT, outer, 4096, Files.size(model()), "", options);
      assertArrayEquals(run(OnnxArchive.session(ENVIRONMENT, model())), run(session));
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "ONNXAR_APK", matches = ".+")
  void archivesInApksRun() throws IOException, OrtException {
    Path apk = Path.of(System.getenv("ONNXAR_APK"));
    long offset = Long.parseLong(System.getenv("ONNXAR_APK_OFFSET"));
    assertEquals(0, offset % 4096);
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      OrtSession session = OnnxArchive.session(ENVIRONMENT, apk, offset, Files.size(model()), "", options);
      assertArrayEquals(run(OnnxArchive.session(ENVIRONMENT, model())), run(session));
    }
  }

  @Test
  void missingGraphsAreNamed() throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      ArchiveException error = assertThrows(
          ArchiveException.class, () -> OnnxArchive.session(ENVIRONMENT, model(), "none", options));
      assertEquals("usage.no_such_entry", error.code());
    }
  }

  @Test
  void negativeLengthIsRefused() throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      ArchiveException error = assertThrows(
          ArchiveException.class, () -> OnnxArchive.session(ENVIRONMENT, model(), 0, -1, "", options));
      assertEquals("usage.argument", error.code());
    }
  }
}
