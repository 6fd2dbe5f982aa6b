# Helpers of this project's CMakeLists files.

# Generates the declarations and definitions of one dialect from Ops.td, whose
# dialect namespace is `namespace`: OpsDialect/Types/Attrs/Ops .inc files beside it.
function(add_batch_dialect name namespace)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${namespace})
  mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${namespace})
  mlir_tablegen(${name}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
  mlir_tablegen(${name}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  add_public_tablegen_target(Batch${name}IncGen)
  add_dependencies(batch-headers Batch${name}IncGen)
endfunction()

# Generates the declarations of a folder's passes from Passes.td.
function(add_batch_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${name})
  add_public_tablegen_target(Batch${name}PassesIncGen)
  add_dependencies(batch-headers Batch${name}PassesIncGen)
endfunction()

# A library of the compiler. LINK_LIBS names other libraries of this project;
# MLIR and LLVM come as their shared libraries. INTERNAL: is not installed.
function(add_batch_library name)
  cmake_parse_arguments(ARG "INTERNAL" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} batch-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  target_compile_options(${name} PRIVATE ${BATCH_COMPILER_OPTIMIZATION})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<INSTALL_INTERFACE:include>)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${name} PRIVATE -fno-rtti)
  endif()
  # One precompiled header set serves every library: MLIR's headers dominate
  # the build otherwise.
  if(TARGET BatchPCH)
    target_precompile_headers(${name} REUSE_FROM BatchPCH)
  endif()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY BATCH_LIBRARIES ${name})
  endif()
endfunction()
