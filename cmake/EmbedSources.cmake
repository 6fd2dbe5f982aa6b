# Writes C++ initializers {"name", "text"} for the files SOURCES to the file OUTPUT.

set(result "")
foreach(source IN LISTS SOURCES)
  get_filename_component(name "${source}" NAME)
  file(READ "${source}" text)
  string(APPEND result "{\"${name}\", R\"source(${text})source\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${result}")
