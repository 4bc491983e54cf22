# SPDX-License-Identifier: MIT
# Run by the build and at install time: the public headers and all that they include, as one
# folder `riffle/`. Includes of ours become `riffle/…`, so that no name of ours
# meets a name of the application's; `runtime/api/x.hpp` becomes `riffle/x.hpp`.
# In: RIFFLE_SOURCE, RIFFLE_HEADERS_OUT.

cmake_minimum_required(VERSION 3.25)
set(waiting runtime/api/riffle.hpp runtime/api/plans.hpp runtime/api/volley.hpp
    runtime/api/testing.hpp)
set(seen)
set(written)
while(waiting)
  list(POP_FRONT waiting header)
  list(APPEND seen ${header})
  file(READ "${RIFFLE_SOURCE}/${header}" text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" lines "${text}")
  foreach(line ${lines})
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" name "${line}")
    if(NOT name IN_LIST seen AND NOT name IN_LIST waiting)
      list(APPEND waiting ${name})
    endif()
  endforeach()
  string(REPLACE "#include \"" "#include \"riffle/" text "${text}")
  string(REPLACE "riffle/runtime/api/" "riffle/" text "${text}")
  string(REPLACE "runtime/api/" "" place "${header}")
  list(APPEND written "${RIFFLE_HEADERS_OUT}/${place}")
  # What did not change keeps its time: nothing is compiled again for it.
  file(CONFIGURE OUTPUT "${RIFFLE_HEADERS_OUT}/${place}" CONTENT "${text}" @ONLY)
endwhile()
file(GLOB_RECURSE there "${RIFFLE_HEADERS_OUT}/*")
list(REMOVE_ITEM there ${written})
if(there)
  file(REMOVE ${there})
endif()
