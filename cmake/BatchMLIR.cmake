# BatchMLIR: what all code that uses MLIR compiles and links with. By default the shared
# libraries of MLIR and LLVM: a tool links in seconds and stays small. With
# BATCH_STATIC_MLIR the archives of MLIR, and of LLVM too where MLIR was built with them
# (Debian's was built with the shared one); the tools load faster then, and there is no
# plugin, which would bring mlir-opt a second MLIR.
option(BATCH_STATIC_MLIR "Link the archives of MLIR, not its shared library" OFF)

set(BATCH_MLIR_LIBRARIES MLIR LLVM)
set(BATCH_MLIR_EXECUTION_ENGINE MLIRExecutionEngineShared)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
if(BATCH_STATIC_MLIR)
  set(MLIR_LINK_MLIR_DYLIB OFF)
  set(BATCH_MLIR_EXECUTION_ENGINE MLIRExecutionEngine)
  get_property(BATCH_MLIR_LIBRARIES GLOBAL PROPERTY MLIR_ALL_LIBS)
  # The shared library itself, tools and what they need, what runs code in the compiler.
  list(FILTER BATCH_MLIR_LIBRARIES EXCLUDE REGEX
       "Test|CAPI|TableGen|Tblgen|PDLL|OptMain|JitRunner|ExecutionEngine|Runtime|Shared$|^MLIR$|^mlir_")
  get_target_property(needed MLIRSupport INTERFACE_LINK_LIBRARIES)
  if("LLVM" IN_LIST needed)
    list(APPEND BATCH_MLIR_LIBRARIES LLVM)
  else()
    set(LLVM_LINK_LLVM_DYLIB OFF)
    llvm_map_components_to_libnames(llvm
      AllTargetsAsmParsers AllTargetsCodeGens AllTargetsDescs AllTargetsInfos
      Core IRReader OrcJIT Passes Support TargetParser)
    list(APPEND BATCH_MLIR_LIBRARIES ${llvm})
  endif()
endif()

add_library(BatchMLIR INTERFACE)
# An installed package adds the includes of the MLIR that it finds.
target_include_directories(BatchMLIR SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
target_include_directories(BatchMLIR INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>"
  $<INSTALL_INTERFACE:include>)
target_link_libraries(BatchMLIR INTERFACE ${BATCH_MLIR_LIBRARIES})
