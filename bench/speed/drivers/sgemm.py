"""OpenBLAS's sgemm through numpy: a product of two squares on one core."""
import time

import numpy as np

import blas
import common


def main():
    c = common.case()
    n = c["sgemm"]
    a, b, out = (np.random.default_rng(i).random((n, n), np.float32) for i in range(3))

    def rate(seconds):
        """GFLOP/s of the fastest of samples of about 2 ms, as ringtrain's are."""
        calls, fastest = max(1, int(1e8 / n ** 3)), float("inf")
        end = time.perf_counter() + seconds
        while fastest == float("inf") or time.perf_counter() < end:
            start = time.perf_counter()
            for _ in range(calls):
                np.dot(a, b, out=out)
            fastest = min(fastest, (time.perf_counter() - start) / calls)
        return 2 * n ** 3 / fastest / 1e9

    rate(c["warm_s"])
    for seconds in common.turns_of_input(blas.library()):
        if seconds > 0:
            common.say({"examples_per_s": rate(seconds), "loss": 0.0})


main()
