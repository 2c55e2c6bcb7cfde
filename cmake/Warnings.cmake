# Structs of options and facts are initialised by name, the rest by default: GCC would call each such field missing.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
                    -Wno-missing-field-initializers)
