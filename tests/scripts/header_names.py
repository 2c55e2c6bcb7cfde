"""What the headers of cmake/Precompile.cmake, and those that they include, declare: header -> the names, as code uses them.

What every container brings with it (iterators, comparisons, std::move) is left out.
"""

import re

STANDARD = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal
        equal_range fill fill_n find find_end find_first_of find_if find_if_not for_each for_each_n generate generate_n
        includes inplace_merge is_heap is_partitioned is_permutation is_sorted is_sorted_until iter_swap
        lexicographical_compare lower_bound make_heap max max_element merge min min_element minmax minmax_element mismatch
        move_backward next_permutation none_of nth_element partial_sort partition partition_copy partition_point pop_heap
        prev_permutation push_heap remove remove_copy remove_copy_if remove_if replace replace_copy replace_if reverse
        reverse_copy rotate rotate_copy sample search search_n set_difference set_intersection set_symmetric_difference
        set_union shuffle sort sort_heap stable_partition stable_sort swap_ranges transform unique unique_copy
        upper_bound""",
    "array": "array to_array",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian has_single_bit "
           "popcount rotl rotr",
    "cmath": """cbrt ceil copysign cos erf exp exp2 expm1 fabs floor fma fmax fmin fmod frexp fpclassify hypot isfinite isinf
        isnan isnormal ldexp llrint llround log log10 log1p log2 logb lrint lround modf nan nanf nearbyint nextafter pow
        remainder rint round scalbn signbit sin sqrt tan tanh trunc""",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strncmp strstr",
    "exception": "current_exception exception exception_ptr rethrow_exception terminate uncaught_exceptions",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "addressof allocator enable_shared_from_this make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "numeric": "accumulate gcd inner_product iota lcm midpoint partial_sum reduce transform_reduce",
    "optional": "make_optional nullopt optional",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error "
                 "runtime_error underflow_error",
    "string": "getline stod stof stoi stol stoll stoul stoull string to_string",
    "string_view": "string_view",
    "tuple": "apply forward_as_tuple make_tuple tie tuple tuple_cat",
    "utility": "as_const cmp_equal cmp_greater cmp_greater_equal cmp_less cmp_less_equal exchange in_place in_place_index "
               "in_place_type in_range index_sequence integer_sequence make_index_sequence piecewise_construct",
    "variant": "get_if holds_alternative monostate variant variant_alternative_t variant_size_v visit",
    "vector": "vector",
}

NAMES = {header: re.compile(rf"\bstd::(?:ranges::)?(?:{'|'.join(names.split())})\b") for header, names in STANDARD.items()}
NAMES["cstdint"] = re.compile(r"\b(?:u?int(?:8|16|32|64)_t|U?INT(?:8|16|32|64)_(?:MAX|MIN|C))\b")
NAMES["fmt/format.h"] = re.compile(r"\bfmt::\w+")
