# cmake -DPROGRAM=... -DSUBJECT=... -DOUTPUT=... [-DEMULATOR=...] -P list_cases.cmake
# Writes one test of ctest for each case of a Google Test program. Its labels are the kind of test, which is the folder of its
# source, and the subject.
execute_process(COMMAND ${EMULATOR} ${PROGRAM} --gtest_list_tests --gtest_output=json:${OUTPUT}.json OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${OUTPUT}.json lines REGEX "^ +\"(name|file)\": ")
set(tests "")
list(APPEND EMULATOR ${PROGRAM})
list(JOIN EMULATOR "]==] [==[" program)
foreach(line IN LISTS lines)
  if(line MATCHES "^      \"name\": \"(.+)\",$")
    string(REPLACE "\\/" "/" suite ${CMAKE_MATCH_1})
  elseif(line MATCHES "^          \"name\": \"(.+)\",$")
    string(REPLACE "\\/" "/" case ${CMAKE_MATCH_1})
  elseif(line MATCHES "\"file\": \".*/([a-z]+)[\\]/[^/]+\",$")
    string(APPEND tests "add_test([==[${suite}.${case}]==] [==[${program}]==] [==[--gtest_filter=${suite}.${case}]==])\n"
      "set_tests_properties([==[${suite}.${case}]==] PROPERTIES LABELS [==[${CMAKE_MATCH_1};${SUBJECT}]==] PROCESSORS 2 "
      "SKIP_REGULAR_EXPRESSION [==[\\[  SKIPPED \\]]==])\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${tests}")
