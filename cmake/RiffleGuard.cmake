# SPDX-License-Identifier: MIT
# The guard of processes as a small program without libraries, put into the
# library that starts it: nobody has to find or install it.

# riffle_guard(TARGET): `std::string_view guard_program()` in namespace
# riffle::embedded gives the program's bytes; none where it cannot be built.
function(riffle_guard target)
  set(out "${PROJECT_BINARY_DIR}/embedded")
  set(source "${out}/guard_program.cpp")
  target_sources(${target} PRIVATE "${source}")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fPIE)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
  check_cxx_source_compiles("#include <string>
int main(int n, char** x) { return std::string{x[0]}.size() > 9u + n; }"
    RIFFLE_STATIC_PIE)
  # A sanitizer wants its own runtime; there the program itself is the guard.
  if(RIFFLE_SANITIZE OR NOT RIFFLE_STATIC_PIE)
    file(CONFIGURE OUTPUT "${source}" CONTENT
"#include <string_view>
namespace riffle::embedded {
std::string_view guard_program();
std::string_view guard_program() { return {}; }
}
")
    return()
  endif()
  set(folder "${PROJECT_SOURCE_DIR}/tools/process")
  add_executable(riffle_guard
    "${folder}/guard_program/main.cpp" "${folder}/guard.cpp"
    "${folder}/guard_launch.cpp" "${folder}/pid_space.cpp"
    "${folder}/process_tree.cpp")
  target_link_libraries(riffle_guard PRIVATE riffle_options tl::expected)
  target_compile_options(riffle_guard PRIVATE
    -fPIE -ffunction-sections -fdata-sections)
  target_link_options(riffle_guard PRIVATE -static-pie -s -Wl,--gc-sections)
  set_target_properties(riffle_guard PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${out}")
  add_dependencies(${target} riffle_guard)
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include <cstddef>
#include <string_view>
asm(R\"(.pushsection .rodata
.hidden riffle_guard_begin
.hidden riffle_guard_end
.global riffle_guard_begin
.global riffle_guard_end
.balign 16
riffle_guard_begin:
.incbin \"@out@/riffle_guard\"
riffle_guard_end:
.popsection)\");
extern \"C\" const char riffle_guard_begin[];
extern \"C\" const char riffle_guard_end[];
namespace riffle::embedded {
std::string_view guard_program();
std::string_view guard_program() {
  return {riffle_guard_begin,
          static_cast<std::size_t>(riffle_guard_end - riffle_guard_begin)};
}
}
")
  set_source_files_properties("${source}" PROPERTIES
    OBJECT_DEPENDS "${out}/riffle_guard")
endfunction()
