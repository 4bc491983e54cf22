# SPDX-License-Identifier: MIT
# Unity builds: several sources of a target are compiled as one, which saves what
# each of them would instantiate again. For first builds and CI (`RIFFLE_UNITY`);
# while one edits, single files are faster.
#
# Sources that define the same name at their top level (helpers in anonymous
# namespaces: `op`, `failure`, …) never come into one batch, so that nobody has
# to think of other files when choosing a name. `namespace` contents are not
# indented here, so such definitions begin in the first column.

option(RIFFLE_UNITY "Compile several sources as one" OFF)
set(RIFFLE_UNITY_BATCH 12 CACHE STRING "Most sources compiled as one")

# What `path` defines at its top level: functions, constants, types; and whom it
# may join: `company` is the namespace all of whose names it takes (only sources
# that take the same), or "alone" for the main function that a library offers.
function(riffle_top_level_names path out company)
  file(READ "${path}" text)
  set(${company} anybody PARENT_SCOPE)
  if(text MATCHES "\nint main\\(")
    set(${company} alone PARENT_SCOPE)
    return()
  elseif(text MATCHES "\nusing namespace ([a-z]+::)?([a-z_]+_detail)")
    set(${company} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endif()
  # Lists are split at semicolons, and brackets would keep them together.
  string(REGEX REPLACE "[];[\"\\]" " " text "${text}")
  string(REGEX MATCHALL
    "\n[a-z][A-Za-z0-9_:<>,*& ]*[ *&]([a-z][a-z0-9_]*)( =|{|\\()" found "${text}")
  string(REGEX MATCHALL
    "\n(struct|class|enum class|enum) [a-z][a-z0-9_]*|\nusing [a-z][a-z0-9_]* ="
    types "${text}")
  set(names)
  foreach(one ${found} ${types})
    string(REGEX MATCH "([a-z][a-z0-9_]*)( =|{|[(])?$" ignored "${one}")
    list(APPEND names "${CMAKE_MATCH_1}")
  endforeach()
  list(REMOVE_DUPLICATES names)
  # Overloads that headers declare, and aliases that mean the same everywhere.
  list(REMOVE_ITEM names to_string visit render inspect execute fs json rt)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# riffle_unity(TARGET): puts each of its sources into the first batch that has
# room and none of its names.
function(riffle_unity target)
  if(NOT RIFFLE_UNITY)
    return()
  endif()
  set(last -1)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    riffle_top_level_names("${source}" names company)
    if(company STREQUAL "alone")
      continue()
    endif()
    set(batch 0)
    while(batch LESS_EQUAL last)
      set(both ${names})
      if(both)
        list(APPEND both ${names_${batch}})
        list(LENGTH both before)
        list(REMOVE_DUPLICATES both)
        list(LENGTH both after)
      else()
        set(before 0)
        set(after 0)
      endif()
      if(batch GREATER last OR (before EQUAL after AND
         company STREQUAL "${company_${batch}}" AND
         size_${batch} LESS RIFFLE_UNITY_BATCH))
        break()
      endif()
      math(EXPR batch "${batch} + 1")
    endwhile()
    if(batch GREATER last)
      set(last ${batch})
      set(size_${batch} 0)
      set(company_${batch} "${company}")
      set(names_${batch})
    endif()
    math(EXPR size_${batch} "${size_${batch}} + 1")
    list(APPEND names_${batch} ${names})
    set_source_files_properties("${source}" PROPERTIES
      UNITY_GROUP "${target}_${batch}")
  endforeach()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
