// ONNX Runtime for C++: run JOBS. A file of jobs is described in runners/worker.py.
#include <onnxruntime_cxx_api.h>

#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string run(Ort::Env& env, const std::string& model, const std::string& input) {
  std::ifstream file(input);
  std::string line;
  std::getline(file, line);
  std::istringstream head(line);
  std::vector<std::int64_t> dims;
  for (std::int64_t dim = 0; head >> dim;) dims.push_back(dim);
  std::vector<float> values;
  for (float value = 0; file >> value;) values.push_back(value);

  const Ort::Session session(env, model.c_str(), Ort::SessionOptions());
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const Ort::Value x = Ort::Value::CreateTensor<float>(memory, values.data(), values.size(), dims.data(), dims.size());
  const char* names[] = {"x", "y"};
  auto results = const_cast<Ort::Session&>(session).Run(Ort::RunOptions(), &names[0], &x, 1, &names[1], 1);
  const auto shape = results.front().GetTensorTypeAndShapeInfo();
  std::ostringstream text;
  text << std::setprecision(9);
  for (const std::int64_t dim : shape.GetShape()) text << dim << ' ';
  text << '\n';
  const auto* y = results.front().GetTensorData<float>();
  for (std::size_t i = 0; i < shape.GetElementCount(); ++i) text << y[i] << ' ';
  text << '\n';
  return text.str();
}

}  // namespace

int main(int /*argc*/, char** argv) {
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "interop");
  std::ifstream jobs(argv[1]);
  for (std::string line; std::getline(jobs, line);) {
    std::istringstream fields(line);
    std::string model, input, output;
    std::getline(fields, model, '\t');
    std::getline(fields, input, '\t');
    std::getline(fields, output, '\t');
    try {
      const std::string y = run(env, model, input);
      std::ofstream(output) << y;
    } catch (const std::exception& refusal) {
      std::ofstream(output + ".refused") << refusal.what();
    }
  }
}
