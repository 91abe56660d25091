# Prints the command that runs programs of the platform whose toolchain file is CMAKE_TOOLCHAIN_FILE, one word a line.
include(${CMAKE_TOOLCHAIN_FILE})
foreach(word IN LISTS CMAKE_CROSSCOMPILING_EMULATOR)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${word})
endforeach()
