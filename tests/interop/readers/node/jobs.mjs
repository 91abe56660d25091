// What all runners in JavaScript share; it also runs in pages. A file of jobs is described in runners/worker.py.
export function parse(text) {
  const [dims, values] = text.split("\n");
  return { dims: dims.split(" ").filter(Boolean).map(Number), values: Float32Array.from(values.trim().split(" ").map(Number)) };
}

export function print(tensor) {
  return `${tensor.dims.join(" ")}\n${Array.from(tensor.data, (value) => value.toPrecision(9)).join(" ")}\n`;
}

export function jobsOf(text) {
  return text.split("\n").filter(Boolean).map((line) => line.split("\t"));
}

// Errors of WebAssembly may be numbers.
export function wordsOf(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export async function run(ort, session, text) {
  const { dims, values } = parse(text);
  const { y } = await session.run({ x: new ort.Tensor("float32", values, dims) });
  return print(y);
}
