# Functions and variables that the Bash scripts of this directory share.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
start=$SECONDS
jobs=${BATCH_JOBS:-$(nproc)}

say() { printf '\033[1m[%3ds] %s\033[0m\n' $((SECONDS - start)) "$*"; }
die() { echo "error: $*" >&2; exit 1; }

packages="llvm-22-dev libmlir-22-dev liblld-22-dev mlir-22-tools llvm-22-tools lld-22 clang-22
  clang-format-22 clang-tidy-22 libboost-context-dev nlohmann-json3-dev libgtest-dev ccache
  cmake ninja-build g++ python3 zlib1g-dev libzstd-dev"

# Installs the missing Debian packages.
install_packages() {
  local missing=() package
  for package in $packages; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = \
      installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    return
  fi
  command -v apt-get >/dev/null ||
    die "apt-get is missing; install these packages by other means:" \
        "${missing[*]}"
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "these packages are missing; run as root, or install sudo:" \
          "${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -qq ||
    echo "apt-get update failed; trying with the package lists as they are."
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}. LLVM 22 is in Debian 12's" \
        "security archive and in Debian 13 and later"
}

# choose_packages [--help] [wheel] [deb]: sets wheel and deb to 1 or 0. Without arguments, both are
# 1.
choose_packages() {
  local argument
  wheel=0 deb=0
  for argument in "$@"; do
    case $argument in
    --help | -h) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit ;;
    wheel) wheel=1 ;;
    deb) deb=1 ;;
    *) die "unknown package $argument; see scripts/$(basename "$0") --help" ;;
    esac
  done
  [ $wheel$deb != 00 ] || wheel=1 deb=1
}

# CMake options of the fastest clean build: Clang, and four files per compilation (unity).
unity=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=4)
fast=(-DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DLLVM_USE_LINKER=lld
  "${unity[@]}")

# configure PRESET [OPTION…]: runs CMake if the folder is not configured, or CMakePresets.json is
# newer. Otherwise, ninja runs CMake if necessary.
configure() {
  local folder=build
  [ "$1" = dev ] || folder=build-$1
  if [ ! -e "$folder/build.ninja" ] ||
     [ CMakePresets.json -nt "$folder/build.ninja" ]; then
    say "Configuring $folder (preset $1)"
    cmake --preset "$@" >"$folder.log" 2>&1 ||
      { cat "$folder.log"; die "CMake failed"; }
    mv "$folder.log" "$folder/configure.log"
  fi
}

# compile FOLDER [TARGET…]: builds the targets in FOLDER.
compile() {
  local folder=$1
  shift
  say "Building $folder${*:+: $*} on $jobs cores"
  nice ninja -C "$folder" -j "$jobs" "$@" || die "the build failed"
}
