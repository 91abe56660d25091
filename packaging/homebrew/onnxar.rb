class Onnxar < Formula
  desc "ONNX models as archives of aligned tensors"
  homepage "@HOME@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :test
  depends_on "protobuf"

  uses_from_macos "curl", since: :ventura # 7.85 or later
  uses_from_macos "zlib"

  def install
    args = %w[
      -DBUILD_SHARED_LIBS=ON
      -DONNXAR_BUNDLED=NONE
      -DONNXAR_BUILD_REMOTE=ON
      -DONNXAR_BUILD_TESTS=OFF
      -DCMAKE_DISABLE_FIND_PACKAGE_ISAL=ON
    ]
    system "cmake", "-G", "Ninja", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "spec/vectors/valid/typical.onnxar"
  end

  test do
    system bin/"onnxar", "unpack", pkgshare/"typical.onnxar", "-o", "model.onnx"
    system bin/"onnxar", "pack", "model.onnx"
    system bin/"onnxar", "check", "--data", "--strict", "model.onnxar"

    (testpath/"test.cc").write <<~CPP
      #include <onnxar/archive.h>
      int main() {
        const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
        return archive.model().empty() ? 1 : 0;
      }
    CPP
    flags = shell_output("pkgconf --cflags --libs onnxar-core").split
    system ENV.cxx, "-std=c++20", "test.cc", *flags, "-o", "test"
    system "./test"
  end
end
