"""Stage `estimate`: estimate the NADs of the scale's architectures.

Writes data/nads/{architecture}.npz, and with `estimator.compare` the NADs of the other
estimand to data/nads/{architecture}.{estimand}.npz; plan.json, a copy of the plan.
Finished estimates are cached, so a killed run resumes.
"""

import time
from typing import Any

import numpy as np
import threadpoolctl

from pipeline.machine import workers
from pipeline.nads import NADs, from_file
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.spectrum import agreement
from pipeline.nads.task import make_tasks
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence, prefix_errors


def make_metrics(nads: NADs) -> dict[str, Any]:
    """Make the entry of one estimate in reports/nads.json.

    The first singular value is √λ₀.
    """
    _, overlap = agreement(nads.overlap)
    return {
        "relative_error": _round(nads.error, 3),
        "split_half": _round(nads.split_half, 3),
        "networks": nads.networks,
        "first_singular_value": _round(np.sqrt(nads.eigenvalues[0]), 4),
        "overlap_of_first_10": _round(overlap, 3),
        "estimand": nads.estimand,
        "input": list(nads.shape),
    }


def _round(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")


def main() -> None:
    """Estimate or import the NADs of each architecture, and write them."""
    plan = artifacts.read_plan("nads", NADsPlan)
    device = workers.find_device(artifacts.read_plan("machine", dict)["device"])
    from_files = {}
    for name, request in plan.members.items():
        file = request.source.file
        if file is not None:
            with prefix_errors(f"nads.{name}: "):
                from_files[name] = from_file(file, request.source.input)
    tasks = list(make_tasks(plan, device))
    metrics = {}
    with artifacts.output(artifacts.NADS) as folder:
        artifacts.keep_plan(plan, folder)
        for name, nads in from_files.items():
            nads.save(folder / f"{name}.npz")
            file = plan.members[name].source.file
            print(f"{name}: {len(nads.directions)} NADs from {file}")
        while tasks:
            task = tasks.pop(0)  # its sums, most of the memory, are freed after it
            started = time.monotonic()
            nads = task.nads()
            minutes = (time.monotonic() - started) / 60
            first = np.sqrt(nads.eigenvalues[0])
            nads.save(folder / f"{task.name}.npz")
            metrics[task.name] = make_metrics(nads)
            print(
                f"{task.name}: NADs ({nads.estimand}) from {nads.networks} networks, "
                f"averaged over {nads.symmetry}, relative error of C {nads.error:.3f}, "
                f"first singular value × 100: {100 * first:.4g}; {minutes:.1f} min"
            )
    artifacts.write_json(artifacts.REPORTS / "nads.json", metrics)


if __name__ == "__main__":
    # Workers use the cores, and no bit may depend on the number of threads.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        command.make_parser(__doc__, "estimate").parse_args()
        main()
