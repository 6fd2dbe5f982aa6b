# BatchMLIR: include folders and libraries of all code that uses MLIR.
#
# By default, this code links the shared libraries of MLIR and LLVM. A tool then links in
# seconds and stays small.
#
# With BATCH_STATIC_MLIR, the code links the archives of MLIR, so tools load faster. It also
# links the archives of LLVM if MLIR was built with them; Debian's MLIR was built with the shared
# library. The plugin is not built, because it would load a second MLIR into mlir-opt.
#
# With BATCH_STATIC_LLVM, the code links the archives of both, independently of how MLIR was
# built. This option is for programs that run on machines without LLVM.
option(BATCH_STATIC_MLIR "Link the archives of MLIR, not its shared library" OFF)
option(BATCH_STATIC_LLVM
       "Link the archives of MLIR and LLVM; for programs, not for libraries to install" OFF)
if(BATCH_STATIC_LLVM)
  set(BATCH_STATIC_MLIR ON)
endif()

# LLVM targets of compiled objects: CPUs and GPUs.
set(BATCH_LLVM_TARGETS AArch64 AMDGPU NVPTX X86)

# Changes the targets of MLIR, LLVM and LLD that would link shared libraries. They then link the
# LLVM archives `llvm`, and a stub library that replaces the omitted LLVM targets.
function(batch_link_archives llvm)
  set(left_out ${LLVM_TARGETS_TO_BUILD})
  list(REMOVE_ITEM left_out ${BATCH_LLVM_TARGETS})
  list(TRANSFORM left_out REPLACE "(.+)" "LEFT_OUT(\\1)")
  list(JOIN left_out " " left_out)
  add_library(BatchLeftOut STATIC "${PROJECT_SOURCE_DIR}/lib/Target/Compile/LeftOut.cpp")
  target_compile_definitions(BatchLeftOut PRIVATE "BATCH_LEFT_OUT=${left_out}")
  target_include_directories(BatchLeftOut SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  add_library(BatchLLVM INTERFACE)
  target_link_libraries(BatchLLVM INTERFACE ${llvm} BatchLeftOut)
  foreach(target ${MLIR_EXPORTED_TARGETS} ${LLVM_AVAILABLE_LIBS} lldCommon lldELF)
    set(needed)
    if(TARGET ${target})
      get_target_property(needed ${target} INTERFACE_LINK_LIBRARIES)
    endif()
    if(needed)
      # The project uses neither Z3 nor Polly, an extension of LLVM. Removes Z3, and replaces Polly
      # with the stub library.
      list(FILTER needed EXCLUDE REGEX "libz3")
      list(TRANSFORM needed REPLACE "^Polly$" BatchLeftOut)
      if(TARGET zstd::libzstd_static)
        list(TRANSFORM needed REPLACE "^zstd::libzstd_shared$" zstd::libzstd_static)
      endif()
      list(TRANSFORM needed REPLACE "^(\\$<LINK_ONLY:)?LLVM>?$" BatchLLVM)
      set_target_properties(${target} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${needed}")
    endif()
  endforeach()
endfunction()

set(BATCH_MLIR_LIBRARIES MLIR LLVM)
set(BATCH_MLIR_EXECUTION_ENGINE MLIRExecutionEngineShared)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
if(BATCH_STATIC_MLIR)
  set(MLIR_LINK_MLIR_DYLIB OFF)
  set(BATCH_MLIR_EXECUTION_ENGINE MLIRExecutionEngine)
  get_property(BATCH_MLIR_LIBRARIES GLOBAL PROPERTY MLIR_ALL_LIBS)
  # Excludes the shared library itself, JIT execution, and libraries for tests, tools and C.
  list(FILTER BATCH_MLIR_LIBRARIES EXCLUDE REGEX
       "Test|CAPI|TableGen|Tblgen|PDLL|OptMain|JitRunner|ExecutionEngine|Runtime|Shared$|^MLIR$|^mlir_")
  get_target_property(needed MLIRSupport INTERFACE_LINK_LIBRARIES)
  if("LLVM" IN_LIST needed AND NOT BATCH_STATIC_LLVM)
    list(APPEND BATCH_MLIR_LIBRARIES LLVM)
  else()
    set(LLVM_LINK_LLVM_DYLIB OFF)
    llvm_map_components_to_libnames(llvm
      ${BATCH_LLVM_TARGETS} Core DTLTO IRReader LTO OrcJIT Passes Support TargetParser)
    batch_link_archives("${llvm}")
    list(APPEND BATCH_MLIR_LIBRARIES ${llvm})
  endif()
endif()

add_library(BatchMLIR INTERFACE)
# These include folders apply only to the build. The installed package adds those of the MLIR
# that it finds.
target_include_directories(BatchMLIR SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
target_include_directories(BatchMLIR INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>"
  $<INSTALL_INTERFACE:include>)
target_link_libraries(BatchMLIR INTERFACE ${BATCH_MLIR_LIBRARIES})
