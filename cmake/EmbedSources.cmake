# Writes OUTPUT: C++ initializers {"name", "text"} of the files SOURCES.

set(result "")
foreach(source IN LISTS SOURCES)
  get_filename_component(name "${source}" NAME)
  file(READ "${source}" text)
  string(APPEND result "{\"${name}\", R\"source(${text})source\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${result}")
