"""Neural anisotropy directions (NADs): which directions of its input a network prefers,
before it has seen any data.

Two papers as one DVC pipeline: "Neural Anisotropy Directions" (NeurIPS 2020, paper 1)
and "A neural anisotropic view of underspecification in deep learning" (ICLR workshop
2021, paper 2).

    plan                   params.yaml, checked           -> data/plan/
    download               images                         -> data/images/
    estimate               NADs of the scale's networks   -> data/nads/
    generate  EXPERIMENT   cells, directions, base noise  -> data/datasets/
    train     EXPERIMENT   the grid of networks           -> models/
    evaluate  EXPERIMENT   accuracies, boundaries         -> reports/{experiment}/
    render                 figures and two pages          -> reports/

    profile   NETWORK      what one network prefers       -> profile-NETWORK/
    verify                 a run beside an earlier one

Each runs as `python -m pipeline.train linear_pairs`, and `--help` describes it. The
first seven are stages, which `dvc repro` runs; the folders hold what they use, and
never import a stage. For your own programs: `pipeline.nads` and
`pipeline.profile.profile`.

Folders, from the ground up: project (files and their places, errors); training (one
trained network); networks, machine, images and measures; nads; experiments; grid (an
experiment's cells, their keys and what they take); config (params.yaml); report.
Each imports earlier ones.

Glossary: N images, C channels, H×W pixels, D = C·H·W, K directions, S seeds; *cell*:
one training run; *grid*: all cells of an experiment; *direction*: a unit vector v;
*index*: the place of a NAD, 0 first; *base noise*: the random numbers of one seed.
"""

import sys
from importlib.util import find_spec

__version__ = "1.0.0"

if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    raise ImportError(
        "this project needs Python 3.11 to 3.14, and this is "
        f"{sys.version.split()[0]}; make an environment with one of them, as "
        "README.md says"
    )
if find_spec("torch") is None:
    raise ImportError(
        f"the package torch is not installed in {sys.prefix}; activate the environment "
        "that has it, or run `pip install -r requirements.txt`"
    )
