"""Neural anisotropy directions (NADs): which directions of its input a network prefers, before it has seen any data.

Two papers as one DVC pipeline: "Neural Anisotropy Directions" (NeurIPS 2020, paper 1) and "A neural anisotropic view of
underspecification in deep learning" (ICLR workshop 2021, paper 2).

    plan                      params.yaml, checked            -> data/plan/
    download                  images                          -> data/images/
    estimate                  NADs of the scale's networks    -> data/nads/
    generate  EXPERIMENT      cells, directions, draws        -> data/datasets/
    train     EXPERIMENT      the grid of networks            -> models/
    evaluate  EXPERIMENT      accuracies, boundaries          -> reports/{experiment}/
    render                    figures and two pages           -> reports/figures/, report.md, index.html

    prune     [DAYS]          size of .cells/; with DAYS, what was not used for so long is removed (a command, no stage)

Stages are verbs and run as `python -m pipeline.train linear_pairs`; the rooms hold nouns, which never import a verb.

Rooms, from the ground up: project (files, seeds, errors); machine, networks, datasets, images, training, measures; nads and grid
(experiments' cells); experiments; settings (params.yaml) and report. A room imports those before it alone.

Glossary: N images, C channels, H×W pixels, D = C·H·W, K directions, S seeds; *cell*: one training run of a grid;
*direction*: a unit vector v; *index*: the place of a NAD, 0 first; *draw*: the standard-normal images of one seed.
"""

import signal
import sys

if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # A stage's imports have nothing to keep, so Ctrl-C ends them without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
