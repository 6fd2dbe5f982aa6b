# Helpers of this project's CMakeLists files.

set(BATCH_TABLEGEN_INCLUDES "${PROJECT_SOURCE_DIR}/include" ${MLIR_INCLUDE_DIRS}
    ${LLVM_INCLUDE_DIRS})

# Calls mlir_tablegen with the include folders of this project. This is a macro because
# mlir_tablegen sets variables of its caller.
macro(batch_tablegen)
  mlir_tablegen(${ARGV} EXTRA_INCLUDES ${BATCH_TABLEGEN_INCLUDES})
endmacro()

# Sets the compiler options of a library or tool that uses MLIR.
function(batch_compiler_options target)
  target_compile_options(${target} PRIVATE
    $<$<NOT:$<CONFIG:Debug>>:${BATCH_COMPILER_OPTIMIZATION}>)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
endfunction()

# Adds AddressSanitizer's default options to a program that links LLVM.
function(batch_llvm_program target)
  if(BATCH_SANITIZERS MATCHES "address")
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tools/AsanOptions.cpp")
  endif()
endfunction()

# Adds a tool of the compiler. LINK_LIBS lists libraries of this project.
function(add_batch_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} batch-headers)
  batch_compiler_options(${name})
  batch_llvm_program(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} BatchMLIR)
  install(TARGETS ${name})
  set_property(GLOBAL APPEND PROPERTY BATCH_TOOLS ${name})
endfunction()

# Generates the declarations and definitions of the dialect `namespace` from NAMEOps.td:
# .inc files of its ops, types, attributes, enums and the dialect itself.
function(add_batch_dialect name namespace)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  batch_tablegen(${name}Ops.h.inc -gen-op-decls)
  batch_tablegen(${name}Ops.cpp.inc -gen-op-defs)
  batch_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${namespace})
  batch_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${namespace})
  batch_tablegen(${name}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
  batch_tablegen(${name}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  batch_tablegen(${name}Enums.h.inc -gen-enum-decls)
  batch_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  batch_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  batch_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  add_public_tablegen_target(Batch${name}IncGen)
  add_dependencies(batch-headers Batch${name}IncGen)
endfunction()

# Generates the declarations of a folder's passes from Passes.td.
function(add_batch_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  batch_tablegen(Passes.h.inc -gen-pass-decls -name ${name})
  add_public_tablegen_target(Batch${name}PassesIncGen)
  add_dependencies(batch-headers Batch${name}PassesIncGen)
endfunction()

# Adds a library of the compiler. Its users link BatchNAME as Batch::NAME. LINK_LIBS lists
# other libraries of this project. An INTERNAL library is not installed.
function(add_batch_library name)
  cmake_parse_arguments(ARG "INTERNAL" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} batch-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} BatchMLIR)
  batch_compiler_options(${name})
  # All libraries share one set of precompiled headers. Otherwise MLIR's headers take
  # most of the build time.
  if(TARGET BatchPCH)
    target_precompile_headers(${name} REUSE_FROM BatchPCH)
  endif()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY BATCH_LIBRARIES ${name})
  endif()
endfunction()
