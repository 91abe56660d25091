// The vectors of the specification: verdict, stage, code, rule, entry and offset.
package io.github.onnxar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class VectorsTest {
  static final Path VECTORS = Path.of("../../spec/vectors");

  private interface Opener {
    OnnxArchive open(Path file, Limits limits) throws IOException;
  }

  /** Returns what a file does at each stage; "accepted", or the stage and the error. */
  private static String verdict(Opener opener, Path file, Limits limits) throws IOException {
    String stage = "open";
    try {
      OnnxArchive archive = opener.open(file, limits);
      stage = "use";
      for (Entry entry : archive.entries()) assertEquals(entry.size(), archive.data(entry).remaining());
      stage = "check";
      archive.check(false);
      for (Tensor tensor : archive.tensors()) assertTrue(tensor.kind() == Tensor.Kind.TYPED || hasData(tensor));
      stage = "data";
      archive.check(true);
      return "accepted";
    } catch (ArchiveException error) {
      return said(stage, error.code(), error.rule(), error.entry(), error.offset().orElse(-1));
    }
  }

  private static boolean hasData(Tensor tensor) {
    return tensor.data().remaining() == tensor.size() && !tensor.site().isEmpty();
  }

  private static String said(Object... parts) {
    return List.of(parts).toString();
  }

  private static String expected(JsonObject row) {
    boolean isRefused = !row.get("stage").isJsonNull() && !row.get("rule").getAsString().equals("M22");
    if (!isRefused) return "accepted";
    byte[] name = row.has("entry") ? row.get("entry").getAsString().getBytes(StandardCharsets.UTF_8)
        : HexFormat.of().parseHex(row.get("entry_hex").getAsString());
    String entry = new String(name, 0, Math.min(name.length, 1024), StandardCharsets.UTF_8);
    String code = row.get("code").getAsString();
    String rule = row.get("rule").getAsString();
    return said(row.get("stage").getAsString(), code, rule, entry, row.get("offset").getAsLong());
  }

  private static Limits limits(JsonObject row) {
    JsonObject options = row.has("options") ? row.getAsJsonObject("options") : new JsonObject();
    return new Limits(limit(options, "max_entries", Limits.DEFAULT.entries()),
        limit(options, "max_directory_size", Limits.DEFAULT.directory()),
        limit(options, "max_model_size", Limits.DEFAULT.model()));
  }

  private static long limit(JsonObject options, String name, long otherwise) {
    return options.has(name) ? options.get(name).getAsLong() : otherwise;
  }

  private static OnnxArchive openMemory(Path file, Limits limits) throws IOException {
    return OnnxArchive.of(ByteBuffer.wrap(Files.readAllBytes(file)), limits);
  }

  /** Opens a copy that begins at a multiple of 64 in another file. */
  private static OnnxArchive openPart(Path file, Limits limits) throws IOException {
    Path copy = Files.createTempFile("part", ".apk");
    try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(Files.readAllBytes(file)), 4096);
      channel.write(ByteBuffer.allocate(100), 4096 + Files.size(file));
    }
    try (FileChannel channel = FileChannel.open(copy)) {
      return OnnxArchive.open(channel, 4096, Files.size(file), limits);
    } finally {
      Files.delete(copy);
    }
  }

  private static List<JsonObject> rows() throws IOException {
    List<JsonObject> rows = new ArrayList<>();
    JsonArray all = JsonParser.parseString(Files.readString(VECTORS.resolve("manifest.json"))).getAsJsonArray();
    for (JsonElement row : all) rows.add(row.getAsJsonObject());
    return rows;
  }

  /** Returns where the file of a vector is, or null. ONNXAR_LARGE_VECTORS names the folder of the large ones. */
  private static Path file(JsonObject row) {
    String large = System.getenv("ONNXAR_LARGE_VECTORS");
    if (row.has("large") && large == null) return null;
    return (row.has("large") ? Path.of(large) : VECTORS).resolve(row.get("file").getAsString());
  }

  private static void compare(Opener opener) throws IOException {
    List<String> differences = new ArrayList<>();
    int compared = 0;
    for (JsonObject row : rows()) {
      if (file(row) == null) continue;
      String verdict = verdict(opener, file(row), limits(row));
      if (!verdict.equals(expected(row))) differences.add(row.get("file") + ": " + verdict + ", not " + expected(row));
      ++compared;
    }
    assertEquals(List.of(), differences);
    assertTrue(compared > 1000, compared + " vectors");
  }

  @Test
  void mappedFilesGetTheRightVerdict() throws IOException {
    compare(OnnxArchive::open);
  }

  @Test
  void memoryGetsTheRightVerdict() throws IOException {
    compare(VectorsTest::openMemory);
  }

  @Test
  void partsOfFilesGetTheRightVerdict() throws IOException {
    compare(VectorsTest::openPart);
  }

  @Test
  void entriesAreThoseOfTheManifest() throws IOException {
    for (JsonObject row : rows()) {
      if (!row.has("entries") || file(row) == null) continue;
      OnnxArchive archive = OnnxArchive.open(file(row));
      List<String> found = new ArrayList<>();
      for (Entry entry : archive.entries()) {
        CRC32 crc = new CRC32();
        crc.update(archive.data(entry));
        found.add(said(entry.name(), archive.offset(entry), entry.size(), crc.getValue()));
        assertEquals(entry, archive.entry(entry.name()).orElseThrow());
      }
      List<String> wanted = new ArrayList<>();
      for (JsonElement each : row.getAsJsonArray("entries")) {
        JsonObject entry = each.getAsJsonObject();
        wanted.add(said(entry.get("name").getAsString(), entry.get("offset").getAsLong(), entry.get("size").getAsLong(),
            entry.get("crc32").getAsLong()));
      }
      assertEquals(wanted, found, row.get("file").getAsString());
    }
  }
}
