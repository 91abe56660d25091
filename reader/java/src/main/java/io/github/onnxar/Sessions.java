// Sessions of ONNX Runtime. Only this file needs its classes.
package io.github.onnxar;

import ai.onnxruntime.*;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/** Makes sessions of links. */
final class Sessions {
  private static final String FOLDER = "session.model_external_initializers_file_folder_path";

  private Sessions() {}

  /** Makes the link of an archive whose file has this name. */
  interface Linking {
    byte[] to(String fileName) throws IOException;
  }

  static OrtSession make(OrtEnvironment environment, Path path, Linking linking, OrtSession.SessionOptions options)
      throws IOException, OrtException {
    Path file = path.toRealPath(); // runtimes refuse data that is a symbolic link
    String name = file.getFileName().toString();
    byte[] link = linking.to(name);
    options.addConfigEntry(FOLDER, file.getParent().toString());
    OrtSession session = environment.createSession(link, options);
    // ONNX Runtime opened the file by its path. A link has the CRC-32s of the model and of the directory.
    if (Arrays.equals(link, linking.to(name))) return session;
    session.close();
    return ArchiveException.naming(path, () -> {
      throw ArchiveException.of("onnx.link.stale", "the archive was replaced while the session was made; try again");
    });
  }
}
