# A room is a folder under src/ and a static library of the same name; its link line is the list of rooms that it may
# include. Unit tests (x_test.cc) stand beside their files and become one test program per room.

find_program(LLD ld.lld)
if(LLD)  # for the many programs that are only tests
  set(MW_QUICK_LINKER -fuse-ld=lld)
endif()
add_library(mw_flags INTERFACE)
target_compile_options(mw_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                          -Wnon-virtual-dtor -Woverloaded-virtual -Werror -fno-omit-frame-pointer
                                          $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # GCC bug 105651: false alarms
                                          # No collection of garbage while compiling: a tenth of the time, for memory
                                          $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
target_include_directories(mw_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(mw_flags INTERFACE MIDWATCH_VERSION="${PROJECT_VERSION}")
if(MIDWATCH_SANITIZE)
  # Without the checks of every pointer, which take a third of the compile time: a null pointer is caught all the same,
  # and the fuzz preset looks for misaligned ones. Without the check of every access against the object's size, which
  # takes a quarter of what is compiled with -O1: AddressSanitizer sees such an access when it happens. Without the check of
  # an object's true class, a sixteenth: it finds wrong casts to a derived class, of which there are none but dynamic ones.
  # Without lines of the source, which take a tenth: a report names functions (-g1 in CMakePresets.json gives the lines, too).
  target_compile_options(mw_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
                                            -fno-sanitize-recover=all)
  target_link_options(mw_flags INTERFACE -fsanitize=address,undefined ${MW_QUICK_LINKER})
endif()
if(MIDWATCH_FUZZ)
  target_compile_options(mw_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(mw_flags INTERFACE -fsanitize=address,undefined)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # RapidJSON adds an offset to a null pointer (its empty stack) and counts the leading zeros of 0 (for "0e-30"). Neither
  # does harm, and both would end every run at once.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/json.cc PROPERTIES
                              COMPILE_OPTIONS "-fno-sanitize=pointer-overflow,builtin,shift")
endif()

# A half of what a small file takes to compile is the standard library's headers and those of a few large parts of the
# program. Clang reads of precompiled ones only what a file uses, so that each room has all that most of its files include.
# Not in the debug and the fuzz presets, where a file that forgets an include is found.
set(MW_SRC ${CMAKE_SOURCE_DIR}/src)
set(MW_STATE_HEADERS ${MW_SRC}/base/text.h ${MW_SRC}/base/result.h ${MW_SRC}/core/knowledge.h ${MW_SRC}/core/state.h)
set(MW_HEADERS_base ${MW_SRC}/base/text.h ${MW_SRC}/base/result.h ${MW_SRC}/base/numbers.h ${MW_SRC}/base/time.h)
set(MW_HEADERS_platform ${MW_HEADERS_base} <cstring>)
set(MW_HEADERS_core ${MW_STATE_HEADERS} ${MW_SRC}/core/detect/tools/kept_track.h ${MW_SRC}/core/detect/support/failure_chain.h)
set(MW_HEADERS_read ${MW_STATE_HEADERS} ${MW_SRC}/read/interpret/interpreter.h)
set(MW_HEADERS_sense ${MW_STATE_HEADERS} ${MW_SRC}/base/json.h ${MW_SRC}/core/task.h ${MW_SRC}/platform/http.h
                     ${MW_SRC}/platform/system.h ${MW_SRC}/sense/checkpoints/examination.h
                     ${MW_SRC}/sense/checkpoints/layouts/layout.h ${MW_SRC}/sense/checkpoints/manifest.h)
set(MW_HEADERS_act ${MW_STATE_HEADERS} ${MW_SRC}/base/json.h ${MW_SRC}/core/task.h ${MW_SRC}/core/retention.h
                   ${MW_SRC}/core/supervise/policy.h ${MW_SRC}/platform/system.h ${MW_SRC}/act/keeper/record.h
                   ${MW_SRC}/act/fleet/fleet_store.h ${MW_SRC}/act/fleet/provider.h ${MW_SRC}/act/notify/channels/channel.h
                   ${MW_SRC}/act/supervise/judgement.h ${MW_SRC}/act/supervise/run_files.h
                   ${MW_SRC}/sense/checkpoints/quarantine.h)
set(MW_HEADERS_ui ${MW_STATE_HEADERS} ${MW_SRC}/base/json.h ${MW_SRC}/api/services.h ${MW_SRC}/ui/cli/verb.h
                  ${MW_SRC}/ui/view/overview.h)
set(MW_HEADERS_app ${MW_STATE_HEADERS} ${MW_SRC}/api/services.h ${MW_SRC}/core/task.h ${MW_SRC}/platform/durable.h
                   ${MW_SRC}/platform/real/posix_disk.h ${MW_SRC}/read/run_reader.h ${MW_SRC}/act/supervise/supervisor.h
                   ${MW_SRC}/act/fleet/beat.h ${MW_SRC}/act/vault/push.h ${MW_SRC}/app/config/config.h
                   ${MW_SRC}/app/harbour.h)
# What the tests of a room include besides.
set(MW_TEST_HEADERS_read <fstream> ${MW_SRC}/core/advance.h)
set(MW_TEST_HEADERS_sense <filesystem> <fstream> ${MW_SRC}/sense/checkpoints/verify.h)
set(MW_TEST_HEADERS_act <filesystem> <fstream> ${MW_SRC}/journal/journal.h ${MW_SRC}/platform/fake/fake_process.h)
set(MW_TEST_HEADERS_app <filesystem> <fstream>)
set(MW_TEST_HEADERS_platform <fstream>)
function(mw_precompile target)
  if(MIDWATCH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release")
    # A file of our own, as CMake gives its own the time of an older one: ninja would not see that the list changed.
    set(text "")
    foreach(header <algorithm> <array> <chrono> <cmath> <deque> <functional> <map> <memory> <optional> <set> <span> <string>
            <string_view> <thread> <unordered_map> <unordered_set> <utility> <variant> <vector> ${ARGN})
      if(NOT header MATCHES "^<")
        set(header "\"${header}\"")
      endif()
      string(APPEND text "#include ${header}\n")
    endforeach()
    set(known ${CMAKE_BINARY_DIR}/generated/precompiled/${target}.h)
    file(CONFIGURE OUTPUT ${known} CONTENT "${text}" @ONLY)
    target_precompile_headers(${target} PRIVATE ${known})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()

function(mw_room name)
  cmake_parse_arguments(ROOM "" "" "LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc ${CMAKE_SOURCE_DIR}/src/${name}/*.S)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/main\\.cc$|/fake/")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    add_library(mw_${name} INTERFACE)
    target_link_libraries(mw_${name} INTERFACE mw_flags ${ROOM_LIBS})
  else()
    add_library(mw_${name} STATIC ${sources})
    target_link_libraries(mw_${name} PUBLIC mw_flags ${ROOM_LIBS})
    mw_precompile(mw_${name} ${MW_HEADERS_${name}})
    # Nothing there is called often, and what is put into its callers takes a fifth of their compile time.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND name MATCHES "^(act|ui|app)$")
      target_compile_options(mw_${name} PRIVATE "SHELL:-mllvm -inline-threshold=50")
    endif()
    # Under the sanitizers -O1 takes half as long again to compile as -O0 and runs in half the time: worth it where the
    # tests spend theirs.
    if(MIDWATCH_SANITIZE AND name MATCHES "^(base|read)$")
      target_compile_options(mw_${name} PRIVATE -O1)
    endif()
  endif()
  set_property(GLOBAL PROPERTY MW_TESTS_${name} ${tests})
  set_property(GLOBAL APPEND PROPERTY MW_ROOMS ${name})
endfunction()
