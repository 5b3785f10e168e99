# Flags that hold for every target of ours, and the one function that makes a library of a folder.
include_guard(GLOBAL)

find_program(DRIFTLESS_MOLD mold)
if(DRIFTLESS_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -Wno-missing-field-initializers)
# Warnings of g++ 12's optimiser that depend on inlining and are wrong about libstdc++'s own strings
# and vectors (GCC bugs 105329, 105651 and their kin): shown where they are useful, never an error.
add_compile_options(-Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                    -Wno-error=stringop-overflow -Wno-error=stringop-overread
                    -Wno-error=free-nonheap-object)
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
