// Runs the jobs of a file with ONNX Runtime for Java.
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** ONNX Runtime for Java: Run JOBS. A file of jobs is described in runners/worker.py. */
public class Run {
  public static void main(String[] arguments) throws Exception {
    for (String line : Files.readAllLines(Path.of(arguments[0]))) {
      String[] job = line.split("\t");
      try {
        Files.writeString(Path.of(job[2]), run(job[0], Files.readString(Path.of(job[1]))));
      } catch (Exception refusal) {
        Files.writeString(Path.of(job[2] + ".refused"), refusal.toString());
      }
    }
  }

  private static String run(String model, String input) throws Exception {
    String[] lines = input.split("\n");
    long[] dims = java.util.Arrays.stream(lines[0].split(" ")).mapToLong(Long::parseLong).toArray();
    String[] texts = lines[1].split(" ");
    FloatBuffer values = FloatBuffer.allocate(texts.length);
    for (String text : texts) values.put(Float.parseFloat(text));
    values.rewind();
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    try (OrtSession session = environment.createSession(model);
        OnnxTensor x = OnnxTensor.createTensor(environment, values, dims);
        OrtSession.Result result = session.run(Map.of("x", x))) {
      OnnxTensor y = (OnnxTensor) result.get("y").orElseThrow();
      StringBuilder text = new StringBuilder();
      for (long dim : y.getInfo().getShape()) text.append(dim).append(' ');
      text.append('\n');
      FloatBuffer buffer = y.getFloatBuffer();
      while (buffer.hasRemaining()) text.append(buffer.get()).append(' ');
      return text.append('\n').toString();
    }
  }
}
