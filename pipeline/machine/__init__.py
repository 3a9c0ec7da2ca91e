"""Where and how work runs: processes, GPUs, the store of finished work, and the code that a result
depends on."""
