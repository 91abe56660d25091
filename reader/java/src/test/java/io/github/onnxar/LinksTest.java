// Links, compared with those of the command. ONNXAR_LINKS names a folder of archives, each with its link beside it.
package io.github.onnxar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

class LinksTest {
  private static OnnxArchive vector(String name) throws IOException {
    return OnnxArchive.open(VectorsTest.VECTORS.resolve("valid").resolve(name));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "ONNXAR_LINKS", matches = ".+")
  void linksAreThoseOfTheCommand() throws IOException {
    int compared = 0;
    int graphs = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(System.getenv("ONNXAR_LINKS")), "*.onnxar")) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        Path link = file.resolveSibling(name.replace(".onnxar", ".onnx"));
        OnnxArchive archive = OnnxArchive.open(file);
        assertArrayEquals(Files.readAllBytes(link), archive.link(name), name);
        for (String graph : archive.graphs()) {
          link = file.resolveSibling(name.replace(".onnxar", "@" + graph.replace('/', '%') + ".onnx"));
          assertArrayEquals(Files.readAllBytes(link), archive.link(graph, name, 0), link.toString());
          ++graphs;
        }
        ++compared;
      }
    }
    assertTrue(compared > 100 && graphs > 20, compared + " links, " + graphs + " of graphs");
  }

  @Test
  void linksStateTheNameAndTheOffset() throws IOException {
    OnnxArchive archive = vector("typical.onnxar");
    String plain = text(archive.link("typical.onnxar"));
    assertTrue(plain.contains("onnxar.link.archive") && plain.contains("typical.onnxar"));
    assertTrue(!plain.contains("onnxar.link.offset") && plain.contains("\u0006offset\u0012\u000264"));
    String moved = text(archive.link("", "base.apk", 4096));
    assertTrue(moved.contains("onnxar.link.offset\u0012\u00044096") && moved.contains("\u0006offset\u0012\u00044160"));
  }

  @Test
  void namesThatNoLinkMayHaveAreRefused() throws IOException {
    OnnxArchive archive = vector("typical.onnxar");
    for (String name : new String[] {"", "#a", "a/b", "a\\b", "a..b", "a\0b"}) {
      ArchiveException error = assertThrows(ArchiveException.class, () -> archive.link(name));
      assertEquals("usage.argument", error.code());
    }
    ArchiveException own = assertThrows(ArchiveException.class, () -> archive.link("A")); // "a" is an entry
    assertEquals("usage.own_name", own.code());
    assertThrows(ArchiveException.class, () -> archive.link("", "a.apk", 32));
  }

  @Test
  void graphsHaveLinks() throws IOException {
    OnnxArchive archive = vector("graph_two.onnxar");
    for (String graph : archive.graphs()) {
      assertTrue(ByteBuffer.wrap(archive.link(graph, "m.onnxar", 0)).remaining() > 0);
    }
    ArchiveException error = assertThrows(ArchiveException.class, () -> archive.link("none", "m.onnxar", 0));
    String expected = ": usage.no_such_entry: the archive has no graph named \"none\"";
    assertTrue(error.getMessage().endsWith(expected), error.getMessage());
  }
}
