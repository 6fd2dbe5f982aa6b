# The Debian package. scripts/package deb creates it with `cpack -G DEB` in a build whose
# CMAKE_INSTALL_PREFIX is /usr (preset debian). It contains the files that `cmake --install`
# installs, and the files that Debian's policy requires.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME batch-compiler)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "Batch <maintainers@batch.invalid>" CACHE STRING
    "Name and address of the maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "compiler that batches dynamic deep-learning programs")
set(CPACK_PACKAGE_DESCRIPTION
    "A model is written for one input, with loops, branches and recursion; Batch
compiles it for a whole mini-batch. The package has the compiler's tools
(batch-opt, batch-compile, batch-run), the runtime for C and C++, and the
libraries of the compiler for compilers that embed it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Packages that users need to build programs with the libraries.
set(llvm "${LLVM_VERSION_MAJOR}")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "cmake, g++, libboost-context-dev, liblld-${llvm}-dev, libmlir-${llvm}-dev,"
    "libzstd-dev, llvm-${llvm}-dev, mlir-${llvm}-tools, zlib1g-dev")
list(JOIN CPACK_DEBIAN_PACKAGE_SUGGESTS " " CPACK_DEBIAN_PACKAGE_SUGGESTS)

set(root "${PROJECT_BINARY_DIR}/debian/root")
set(docs "${root}/usr/${CMAKE_INSTALL_DOCDIR}")
file(WRITE "${root}/usr/share/lintian/overrides/batch-compiler"
"# One package has the tools, and libbatch-runtime, whose version is the ABI's.
batch-compiler: package-name-doesnt-match-sonames *
batch-compiler: link-to-shared-library-in-wrong-package *
# Debian installs libMLIR in LLVM's own folder.
batch-compiler: custom-library-search-path RUNPATH /usr/lib/llvm-${llvm}/lib *
# CPack writes a call to ldconfig in addition to the trigger.
batch-compiler: maintscript-calls-ldconfig *
# README.md refers to the changelog by this name.
batch-compiler: wrong-name-for-upstream-changelog *
# The package is not in the Debian archive.
batch-compiler: initial-upload-closes-no-bugs *
")
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers")
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" license)
string(FIND "${license}" "---- LLVM Exceptions" exceptions)
string(SUBSTRING "${license}" ${exceptions} -1 exceptions)
set(copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Batch

Files: *
Copyright: the authors of Batch
License: Apache-2.0-with-LLVM-exception

The Apache License 2.0, /usr/share/common-licenses/Apache-2.0 on Debian, with

${exceptions}")
# Packages whose archives or headers become part of the tools.
foreach(package liblld-${llvm}-dev nlohmann-json3-dev)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    file(READ "/usr/share/doc/${package}/copyright" text)
    string(APPEND copyright "\n\nThe tools contain code of ${package}:\n\n${text}")
  endif()
endforeach()
file(WRITE "${docs}/copyright" "${copyright}")
string(TIMESTAMP now "%a, %d %b %Y 00:00:00 +0000" UTC)
file(WRITE "${docs}/changelog.Debian"
"batch-compiler (${PROJECT_VERSION}-1) unstable; urgency=medium

  * CHANGELOG.md lists what has changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
execute_process(COMMAND gzip -9nf "${docs}/changelog.Debian")
set(CPACK_INSTALLED_DIRECTORIES "${root};/")
include(CPack)
