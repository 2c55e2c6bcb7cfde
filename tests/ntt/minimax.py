#!/usr/bin/env python3
"""Prints the polynomial coefficients of include/tessera/ntt/math/*.h, with the error that each reaches before rounding.

Remez exchange in 40 digits for  sum_i c_i x^e_i  against f(x) - fixed(x), the error weighted by 1 / |scale(x)|, so that
it counts in units of the final result. Coefficients are rounded to float32 one after the other, the one with most
influence first, and the others are fitted anew each time. Needs python3-mpmath; run by hand, the tests check the result.
"""
import struct
from mpmath import mp, mpf, matrix, lu_solve, exp, log, erf, erfc, tanh, pi, cos, log1p

mp.dps = 40


def to_float(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def remez(target, exponents, weight, low, high):
    """Minimax coefficients of the powers `exponents`, and the largest weighted error."""
    n = len(exponents)
    nodes = [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n + 2)) for i in range(n + 1)]
    for _ in range(30):
        system, right = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, x in enumerate(nodes):
            for column, e in enumerate(exponents):
                system[row, column] = x**e
            system[row, n] = (-1) ** row * weight(x)
            right[row] = target(x)
        solution = lu_solve(system, right)
        c = list(solution[:n])

        def error(x):
            return (sum(ci * x**e for ci, e in zip(c, exponents)) - target(x)) / weight(x)

        grid = [low + (high - low) * i / 1500 for i in range(1501)]
        values = [error(x) for x in grid]
        extrema = []
        for i, v in enumerate(values):
            if extrema and (v > 0) == (extrema[-1][1] > 0):
                if abs(v) > abs(extrema[-1][1]):
                    extrema[-1] = (grid[i], v)
            else:
                extrema.append((grid[i], v))
        worst = max(abs(v) for _, v in extrema)
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        if len(extrema) < n + 1 or worst < abs(solution[n]) * mpf("1.001"):
            break
        nodes = [x for x, _ in extrema]
    return c, worst


def fit(name, target, exponents, weight, low, high):
    low, high = mpf(low), mpf(high)
    fixed, free = {}, list(exponents)
    while free:
        def rest(x):
            return target(x) - sum(c * x**e for e, c in fixed.items())
        c, worst = remez(rest, free, weight, low, high)
        reach = max(abs(low), abs(high))
        index = max(range(len(free)), key=lambda i: abs(c[i]) * reach ** free[i])
        fixed[free.pop(index)] = to_float(c[index])
    grid = [low + (high - low) * i / 4000 for i in range(4001)]
    final = max(abs((sum(c * x**e for e, c in fixed.items()) - target(x)) / weight(x)) for x in grid)
    print(f"{name}: relative error 2^{float(log(final, 2)):.1f}")
    for e in sorted(fixed, reverse=True):
        print(f"    x^{e}: {float(fixed[e]).hex()}f  {float(fixed[e]):.9g}f")


edge = log(2) / 2 * mpf("1.001")
tiny = mpf("1e-6")
# exp(r) = 1 + r + r^2 q(r)
fit("exp", lambda r: exp(r) - 1 - r, [2, 3, 4, 5, 6], lambda r: exp(r), -edge, edge)
# log(1 + f) = f - f^2/2 + f^3 q(f); the signed weight lets the error alternate across f = 0
fit("log", lambda f: log1p(f) - f + f * f / 2, list(range(3, 11)), lambda f: log1p(f) or mpf(1),
    mpf(-1) / 3, mpf(1) / 3)
# tanh(x) = x + x^3 q(x^2) for |x| < 0.625
fit("tanh", lambda x: tanh(x) - x, [3, 5, 7, 9, 11], lambda x: tanh(x), tiny, mpf("0.626"))
# erf(x) = x + x q(x^2) for |x| < 0.9375
fit("erf, small", lambda x: erf(x) - x, [1, 3, 5, 7, 9, 11, 13], lambda x: erf(x), tiny, mpf("0.9376"))
# erf(x) = 1 - exp(q(x)) beyond; an error of q is an error of erfc(x), small against erf(x)
fit("erf, large", lambda x: log(erfc(x)), [0, 1, 2, 3, 4, 5, 6], lambda x: erf(x) / erfc(x), mpf("0.937"), mpf(4))
