# Installs headers, libraries, the CMake package of the compiler, docs and examples.
# The root CMakeLists.txt includes this file after all libraries exist. Exports the libraries
# in the property BATCH_LIBRARIES, and the libraries of the project on which they depend.
# The libraries of the runtime are in a separate package (runtime/CMakeLists.txt).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Returns the libraries of the project that are reachable from BATCH_LIBRARIES, in a fixed order.
# Omits the libraries of the runtime.
function(batch_installed_libraries out)
  get_property(work GLOBAL PROPERTY BATCH_LIBRARIES)
  set(found)
  while(work)
    list(POP_FRONT work library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    if(NOT TARGET "${library}" OR library IN_LIST found
       OR library IN_LIST BATCH_RUNTIME_LIBRARIES)
      continue()
    endif()
    get_target_property(imported "${library}" IMPORTED)
    get_target_property(alias "${library}" ALIASED_TARGET)
    if(imported)
      continue()
    elseif(alias)
      list(APPEND work "${alias}")
      continue()
    endif()
    list(APPEND found "${library}")
    get_target_property(needed "${library}" INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(APPEND work ${needed})
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(BATCH_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Batch")

get_property(BATCH_RUNTIME_LIBRARIES GLOBAL PROPERTY BATCH_RUNTIME_LIBRARIES)
batch_installed_libraries(batch_libraries)
# Users link the libraries as Batch::Pipelines and so on.
set(batch_targets)
foreach(library ${batch_libraries})
  string(SUBSTRING ${library} 5 -1 target)
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${target})
  add_library(Batch::${target} ALIAS ${library})
  list(APPEND batch_targets ${target})
endforeach()
# Builds everything that is installed, without tests. scripts/demo uses this target.
get_property(batch_tools GLOBAL PROPERTY BATCH_TOOLS)
add_custom_target(batch-installed)
add_dependencies(batch-installed ${batch_tools} ${batch_libraries}
                 ${BATCH_RUNTIME_LIBRARIES})

install(TARGETS ${batch_libraries} EXPORT BatchTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT BatchTargets NAMESPACE Batch::
        DESTINATION "${BATCH_PACKAGE_DIR}")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/Batch"
                  "${PROJECT_BINARY_DIR}/include/Batch"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
                       PATTERN "CMakeFiles" EXCLUDE)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/BatchConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/BatchConfig.cmake"
  INSTALL_DESTINATION "${BATCH_PACKAGE_DIR}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/cmake/BatchConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/BatchConfig.cmake"
              "${PROJECT_BINARY_DIR}/cmake/BatchConfigVersion.cmake"
        DESTINATION "${BATCH_PACKAGE_DIR}")

install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
              "${PROJECT_SOURCE_DIR}/SECURITY.md" "${PROJECT_SOURCE_DIR}/CITATION.cff"
              "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        PATTERN "site" EXCLUDE PATTERN "__pycache__" EXCLUDE)
