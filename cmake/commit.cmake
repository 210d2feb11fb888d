# Writes OUTPUT from TEMPLATE with the commit of SOURCE, and only if it has changed: cmake -DSOURCE=... -P commit.cmake
# `git archive` replaces the next line's placeholder, so that a source tarball knows its commit.
set(commit "$Format:%H$")

if(NOT commit MATCHES "^[0-9a-f]+$")
  set(commit "")
  find_program(GIT_PROGRAM git)
  # Not the repository of a parent folder.
  if(GIT_PROGRAM AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT_PROGRAM} -C ${SOURCE} rev-parse HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_PROGRAM} -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
  endif()
endif()
set(text "commit unknown")
if(commit)
  string(SUBSTRING ${commit} 0 12 short)
  set(text "commit ${short}")
  if(changed)
    string(APPEND text ", changed")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
