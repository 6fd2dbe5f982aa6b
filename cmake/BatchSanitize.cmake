# BATCH_SANITIZE is OFF, ON (address and undefined), or a list of values of the compiler
# option -fsanitize, such as thread. BATCH_SANITIZERS is set to these values, separated
# by commas.
set(BATCH_SANITIZE OFF CACHE STRING
    "Sanitizers to build with: OFF, ON (address and undefined), or a list such as thread")
set(BATCH_SANITIZERS "")
if(BATCH_SANITIZE)
  set(BATCH_SANITIZERS "${BATCH_SANITIZE}")
  if(BATCH_SANITIZE MATCHES "^(ON|on|On|1|TRUE|true|YES|yes)$")
    set(BATCH_SANITIZERS address undefined)
  endif()
  list(JOIN BATCH_SANITIZERS "," BATCH_SANITIZERS)
  add_compile_options("-fsanitize=${BATCH_SANITIZERS}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${BATCH_SANITIZERS}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND BATCH_SANITIZERS MATCHES "undefined")
    # These two checks need type information. Compiled models have none for functions, and
    # LLVM has no RTTI.
    add_compile_options(-fno-sanitize=function,vptr)
  endif()
endif()
