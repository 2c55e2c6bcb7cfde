"""Results of programs by the independent interpreter: ask_reference.py REFERENCE FOLDER COUNT

FOLDER holds N.ir, N.call and N.given of each program (reference.cpp writes them); N.results will hold all outputs and
states, or N.failed the reason why there are none.
"""

import pathlib
import sys
import traceback

import numpy as np


def results_of(stem, reference):
    sizes, given, wanted, at = {}, {}, [], 0
    numbers = np.fromfile(f"{stem}.given", np.float64)
    for line in pathlib.Path(f"{stem}.call").read_text().splitlines():
        kind, name, *rest = line.split()
        if kind == "symbol":
            sizes[name] = int(rest[0])
        elif kind == "array":
            shape = [int(extent) for extent in rest]
            given[name] = numbers[at : at + np.prod(shape, dtype=int)].reshape(shape)
            at += given[name].size
        else:
            wanted.append(name)
    made = reference.Graph(pathlib.Path(f"{stem}.ir").read_text()).run(sizes, given)
    return np.concatenate([np.asarray(made[name], np.float64).reshape(-1) for name in wanted])


def main():
    folder, count = pathlib.Path(sys.argv[2]), int(sys.argv[3])
    sys.path.insert(0, sys.argv[1])
    import reference

    round_to = reference.round_to
    # An integer is no negative zero; -0.0 changes nothing.
    reference.round_to = lambda kind, numbers: round_to(kind, numbers) + (0.0 if kind in reference.RANGES else -0.0)

    for number in range(count):
        try:
            results_of(folder / str(number), reference).tofile(folder / f"{number}.results")
        except Exception:
            (folder / f"{number}.failed").write_text(traceback.format_exc())


if __name__ == "__main__":
    main()
