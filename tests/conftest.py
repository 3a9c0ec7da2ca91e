"""One thread, as in the workers: more would fight over the cores of a shared machine."""

import torch

torch.set_num_threads(1)
