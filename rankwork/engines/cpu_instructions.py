"""Fewer CPU instructions for numpy, chosen when a process starts: other machines, seen from this one.

numpy picks a sort by what the CPU offers, and each breaks ties in its own way. The names of the features changed with
numpy 2.4; both generations are listed, and a build that does not know a name only warns. On a CPU that has none of them
these conditions change nothing.
"""

_UP_TO_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"
_UP_TO_AVX2 = f"{_UP_TO_AVX512} X86_V3 AVX2 FMA3"

NUMPY_RESTARTS = {
    "CPU without AVX-512": {"NPY_DISABLE_CPU_FEATURES": _UP_TO_AVX512},
    "CPU without AVX2": {"NPY_DISABLE_CPU_FEATURES": _UP_TO_AVX2},
}
