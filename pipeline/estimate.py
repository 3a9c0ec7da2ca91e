"""Stage `estimate`: the NADs of the scale's architectures ->
data/nads/{architecture}.npz.

With `estimator.compare` also the NADs of the other estimand ->
data/nads/{architecture}.{estimand}.npz. Finished estimates come from the store, also
after a run that was killed.
"""

import time
from typing import Any

import numpy as np
import threadpoolctl

from pipeline.machine import workers
from pipeline.nads import NADs, from_file
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.spectrum import agreement
from pipeline.nads.task import tasks
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence, prefix_errors


def metrics_of(nads: NADs) -> dict[str, Any]:
    """One estimate's entry in reports/nads.json: its first singular value is √λ₀."""

    def rounded(number, digits):
        return float(f"{number:.{digits}g}")

    return {
        "relative_error": rounded(nads.error, 3),
        "split_half": rounded(nads.split_half, 3),
        "networks": nads.networks,
        "first_singular_value": rounded(np.sqrt(nads.eigenvalues[0]), 4),
        "overlap_of_first_10": rounded(agreement(nads.overlap)[1], 3),
        "estimand": nads.estimand,
        "input": list(nads.shape),
    }


def main() -> None:
    """Estimate or import, and write the NADs, architecture by architecture."""
    plan = artifacts.read_plan("nads", NADsPlan)
    device = workers.device_of(artifacts.read_plan("machine", dict)["device"])
    from_files = {}
    metrics = {}
    for name, request in plan.members.items():
        if (file := request.source.file) is not None:
            with prefix_errors(f"nads.{name}: "):
                from_files[name] = from_file(file, request.source.input)
    estimates = list(tasks(plan, device))
    with artifacts.output(artifacts.NADS) as folder:
        for name, nads in from_files.items():
            nads.save(folder / f"{name}.npz")
            print(
                f"{name}: {len(nads.directions)} NADs from {plan.members[name].source.file}"
            )
        while estimates:  # each leaves the list, as its sums are most of the memory
            task = estimates.pop(0)
            started = time.monotonic()
            nads = task.nads()
            minutes = (time.monotonic() - started) / 60
            nads.save(folder / f"{task.name}.npz")
            metrics[task.name] = metrics_of(nads)
            print(
                f"{task.name}: NADs ({nads.estimand}) from {nads.networks} networks, averaged over "
                f"{nads.symmetry}, relative error of C {nads.error:.3f}, first singular value "
                f"× 100: {100 * np.sqrt(nads.eigenvalues[0]):.4g}; {minutes:.1f} min"
            )
    artifacts.write_json(artifacts.REPORTS / "nads.json", metrics)


if __name__ == "__main__":
    # Workers use the cores, and no bit may depend on the number of threads.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        command.make_parser(__doc__, "estimate").parse_args()
        main()
