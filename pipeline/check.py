"""Stage `check`: every value of params.yaml, at every scale and for every experiment, before any work starts.

It writes nothing; it runs again whenever params.yaml changes, also where no other stage reads the changed key.
"""

from pathlib import Path

import yaml

from pipeline import architectures, experiments, params
from pipeline.errors import one_sentence


def main():
    """End with one sentence if anything in params.yaml cannot be run."""
    chosen = params.load()
    architectures.check(chosen.architectures)
    scales = yaml.safe_load(Path("params.yaml").read_text())["scales"]
    count = 0
    for scale in scales:
        for name in experiments.names():
            cells = experiments.find(name).cells(params.load(experiment=experiments.find(name), scale=scale))
            count += len(cells) if scale == chosen.scale else 0
    print(f"params.yaml is sound; scale {chosen.scale} has {count} cells to train")


if __name__ == "__main__":
    with one_sentence():
        main()
