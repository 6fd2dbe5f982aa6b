# Builds the runtime and batch-run for 64-bit ARM with Debian's cross compiler
# (g++-aarch64-linux-gnu). The programs run in qemu-user. To configure the build:
#
#   cmake -G Ninja -S runtime -B build-aarch64 -DBATCH_BOOST_CONTEXT=OFF \
#     -DBATCH_BUILD_TESTS=OFF --toolchain $PWD/cmake/toolchains/aarch64-linux-gnu.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# Searches for libraries only in the target's folders. Headers may be those of this machine.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
