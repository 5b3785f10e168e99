# Flags that hold for every target of ours, and the one function that makes a library of a folder.
include_guard(GLOBAL)

find_program(DRIFTLESS_MOLD mold)
if(DRIFTLESS_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -Wno-missing-field-initializers)
if(DRIFTLESS_SANITIZE)
  add_compile_options(-fsanitize=${DRIFTLESS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DRIFTLESS_SANITIZE})
endif()

# driftless_library(NAME): all .cc files below the calling folder as one static library, included
# from the repository's root. A folder is a library; a new file needs no list to be edited.
function(driftless_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
endfunction()
