#!/usr/bin/env bash
# pybind11 2.10.4 (Debian 12 has 2.10.3) with numpy 2.4.6. Situation: an extension returns py::array_t<float> of the numbers 1 to 4.
# Guess: it works, or fails with a message, as an extension that was built for NumPy 1 does. Seen: other numbers come back, without a word: pybind11
# reads the size of an element out of a structure that NumPy 2 has changed.
source "$(dirname "$0")/setup.sh"
install pybind11==2.10.4 numpy==2.4.6 setuptools
cat > "$folder/four.cpp" <<'CPP'
#include <pybind11/numpy.h>
PYBIND11_MODULE(four, module) {
    module.def("numbers", [] {
        const float numbers[] = {1, 2, 3, 4};
        return pybind11::array_t<float>(4, numbers);
    });
}
CPP
flags=$("$folder/python/bin/python" -m pybind11 --includes)
# shellcheck disable=SC2086
g++ -O1 -std=c++17 -shared -fPIC $flags "$folder/four.cpp" -o "$folder/four.so"
expect 'right: False' <<'PY'
import four
import numpy as np

print("right:", np.array_equal(four.numbers(), [1, 2, 3, 4]))
PY
