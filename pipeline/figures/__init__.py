"""One function per figure, named by what it shows: tables and arrays in, a matplotlib Figure out.

No function here reads a file or runs a model. `style` holds what all figures share; every figure carries a caption line
with its scale, seeds and sizes, and a notice where its images are not CIFAR-10.
"""
