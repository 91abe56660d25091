"""A recipe of Conan for libraries that the system has, for machines that cannot reach Conan Center: CMake finds them by its own modules.

Usage: conan export system_libraries.py --name zlib --version 1.2.13
"""

from conan import ConanFile

# Of each library: CMake's name of the package, the recipe's component if it has some, and the target.
FOUND = {
    "zlib": ("ZLIB", "", "ZLIB::ZLIB"),
    "protobuf": ("Protobuf", "libprotobuf", "protobuf::libprotobuf"),
    "cmake": ("", "", ""),
}


class SystemLibrary(ConanFile):
    def package_info(self) -> None:
        file, component, target = FOUND[self.name]
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("cmake_file_name", file)
        part = self.cpp_info.components[component] if component else self.cpp_info
        part.set_property("cmake_target_name", target)
