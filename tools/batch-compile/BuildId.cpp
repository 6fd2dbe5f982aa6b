//===- BuildId.cpp - ID of the compiler's code ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildId.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"

#include <link.h>

using llvm::StringRef;

/// Returns the contents of the build ID in a segment of notes, or an empty
/// string.
static StringRef findBuildId(const char *begin, const ElfW(Phdr) & segment) {
  const char *end = begin + segment.p_memsz;
  const llvm::Align align(segment.p_align == 8 ? 8 : 4);
  while (begin + sizeof(ElfW(Nhdr)) <= end) {
    const auto &note = *reinterpret_cast<const ElfW(Nhdr) *>(begin);
    const char *name = begin + sizeof(note);
    const char *contents =
        begin + llvm::alignTo(sizeof(note) + note.n_namesz, align);
    if (note.n_type == NT_GNU_BUILD_ID &&
        StringRef(name, note.n_namesz) == StringRef("GNU", 4))
      return {contents, note.n_descsz};
    begin = contents + llvm::alignTo(note.n_descsz, align);
  }
  return "";
}

/// Adds the build ID of a loaded object to a digest.
static int addObject(dl_phdr_info *object, size_t, void *digest) {
  // The program itself has no name.
  const StringRef name = llvm::sys::path::filename(object->dlpi_name);
  if (!name.empty() && !name.starts_with("libLLVM") &&
      !name.starts_with("libMLIR"))
    return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      static_cast<llvm::SHA1 *>(digest)->update(findBuildId(
          reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr),
          segment));
  }
  return 0;
}

std::string mlir::batch::getBuildId() {
  llvm::SHA1 digest;
  ::dl_iterate_phdr(addObject, &digest);
  return llvm::toHex(digest.final(), /*LowerCase=*/true);
}
