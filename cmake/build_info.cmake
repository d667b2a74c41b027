# Writes OUT, a C++ source that says which commit of SOURCE this is; only when that changed, so that nothing is linked
# again without need. Run by every build. An archive of the repository (git archive) has its commit in
# cmake/archived-commit; where neither is known, it says so.
set(commit "")
set(date "")
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(commit AND top STREQUAL SOURCE)  # not a repository that this folder happens to lie in
  execute_process(COMMAND git -C ${SOURCE} show -s --format=%cs HEAD OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
  if(NOT changed EQUAL 0)
    string(APPEND commit " with changes")
  endif()
else()
  set(commit "")
  file(READ ${SOURCE}/cmake/archived-commit archived)
  if(archived MATCHES "^([0-9a-f]+) ([0-9-]+)")
    set(commit ${CMAKE_MATCH_1})
    set(date ${CMAKE_MATCH_2})
  endif()
endif()
set(text "#include \"ui/cli/build_info.h\"\n
namespace mw {
const BuildInfo kBuildInfo = {\"${VERSION}\", \"${commit}\", \"${date}\", \"${COMPILER}\", \"${TYPE}\"};
}  // namespace mw\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
