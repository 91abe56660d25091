import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";
const externalData = [{ path: "weights.bin", data: new Uint8Array(readFileSync("weights.bin")) }];
await ort.InferenceSession.create(new Uint8Array(readFileSync("model.onnx")), { externalData });
// Tensor else_w external data path could not be canonicalized: No such file or directory
