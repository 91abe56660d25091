// Sessions of ONNX Runtime. Only this file needs its classes.
package io.github.onnxar;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;

/** Makes sessions of links. */
final class Sessions {
  private static final String FOLDER = "session.model_external_initializers_file_folder_path";

  private Sessions() {}

  static OrtSession make(OrtEnvironment environment, Path path, long offset, long length, String graph,
      OrtSession.SessionOptions options) throws IOException, OrtException {
    Path file = path.toRealPath(); // runtimes refuse data that is a symbolic link
    String name = file.getFileName().toString();
    byte[] link = open(path, offset, length).link(graph, name, offset);
    options.addConfigEntry(FOLDER, file.getParent().toString());
    OrtSession session = environment.createSession(link, options);
    // ONNX Runtime opened the file by its path. A link has the CRC-32s of the model and of the directory.
    if (Arrays.equals(link, open(path, offset, length).link(graph, name, offset))) return session;
    session.close();
    throw ArchiveException.of("onnx.link.stale", "the archive was replaced while the session was made; try again");
  }

  /** Opens the archive in a part of a file, or in the whole file if the length is negative. */
  private static OnnxArchive open(Path path, long offset, long length) throws IOException {
    if (length < 0) return OnnxArchive.open(path);
    try (FileChannel file = FileChannel.open(path)) {
      return OnnxArchive.open(file, offset, length, Limits.DEFAULT);
    }
  }
}
