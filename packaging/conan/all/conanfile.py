from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.env import VirtualBuildEnv
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0.9"


class OnnxarConan(ConanFile):
    name = "onnxar"
    description = "ONNX models as archives of aligned tensors"
    license = "Apache-2.0"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "@HOME@"
    topics = ("onnx", "machine-learning", "zip", "serialization", "mmap")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "model": [True, False],
        "remote": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "model": True,
        "remote": True,
    }
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.model:
            self.requires("protobuf/[>=3.21.12 <7]", transitive_headers=True, transitive_libs=True)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <5]")
        if self.options.model:
            self.tool_requires("protobuf/<host_version>")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.shared and self.settings.os == "Windows":
            raise ConanInvalidConfiguration("onnxar's C++ libraries are static on Windows")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        VirtualBuildEnv(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ONNXAR_BUNDLED"] = "NONE"
        toolchain.cache_variables["ONNXAR_BUILD_C"] = False
        toolchain.cache_variables["ONNXAR_BUILD_TOOLS"] = False
        toolchain.cache_variables["ONNXAR_BUILD_TESTS"] = False
        toolchain.cache_variables["ONNXAR_BUILD_MODEL"] = bool(self.options.model)
        toolchain.cache_variables["ONNXAR_BUILD_REMOTE"] = bool(self.options.remote)
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_ISAL"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, self.package_folder + "/licenses")
        CMake(self).install()
        rmdir(self, self.package_folder + "/lib/cmake")
        rmdir(self, self.package_folder + "/lib/pkgconfig")
        rmdir(self, self.package_folder + "/share")

    def package_info(self):
        self._component("core", ["zlib::zlib"])
        # Programs that link core get runtime too. Conan allows no loop of components.
        self.cpp_info.components["core"].libs.insert(0, "onnxar_runtime")
        self._component("runtime", ["core"])
        self.cpp_info.components["runtime"].libs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.components["core"].system_libs = ["dl", "pthread"]
        elif self.settings.os == "Windows":
            self.cpp_info.components["core"].system_libs = ["ntdll", "rstrtmgr"]
        if self.options.remote:
            self._component("remote", ["core"])
        if self.options.model:
            self._component("model", ["core", "protobuf::libprotobuf"])

    def _component(self, name, requires):
        component = self.cpp_info.components[name]
        component.libs = [f"onnxar_{name}"]
        component.requires = requires
        component.set_property("cmake_target_name", f"onnxar::{name}")
        component.set_property("pkg_config_name", f"onnxar-{name}")
        if self.options.shared:
            component.defines = ["ONNXAR_SHARED"]
