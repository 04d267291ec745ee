"""Which BLAS numpy has, and for which core it has chosen its kernels."""
import ctypes
import glob
import os

import numpy as np


def library():
    """Version of numpy, and the build and core type of its OpenBLAS."""
    return "numpy %s, %s" % (np.__version__, openblas() or "another BLAS")


def openblas():
    """OpenBLAS's own words on its build and the core type; "" if it is not there."""
    folder = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
    for path in glob.glob(os.path.join(folder, "*openblas*")):
        loaded = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_config64_", "openblas_get_config64_", "openblas_get_config"):
            if hasattr(loaded, name):
                config = getattr(loaded, name)
                config.restype = ctypes.c_char_p
                return config().decode().strip()
    return ""
