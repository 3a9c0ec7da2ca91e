"""Stage `plan`: params.yaml, checked at every scale -> data/plan/; prints what will
run.

No other stage reads params.yaml. data/plan/ holds the chosen scale: images.json,
nads.json and {experiment}.json, with the digests of a person's own files, and
machine.json, the device. A mistake at any scale ends the stage with one sentence, and
several mistakes with one sentence each; of the networks, those of the chosen scale
alone are tried.
"""

import dataclasses

import pandas as pd
import torch

from pipeline import config, experiments
from pipeline.config.trial import try_out
from pipeline.grid.forecast import forecast
from pipeline.images.settings import expand_path, notice_other_images
from pipeline.machine import workers
from pipeline.project import artifacts, command
from pipeline.project.errors import notice, one_sentence


def main() -> None:
    """Check params.yaml, print the work that it asks for, and write the plans."""
    torch.set_num_threads(1)
    digest = artifacts.params_digest()
    plans, *_ = config.plans(config.read()).values()  # the chosen scale's
    device = workers.device_of(plans.device)
    scale = plans.nads.scale
    try_out(plans)
    if plans.images.path is not None:
        expand_path(plans.images.path)
    notice_other_images(plans.images)
    rows = {
        name: forecast(experiments.find(name), plan, device, plans.engine)
        for name, plan in plans.experiments.items()
    }
    table = pd.DataFrame(rows).T
    table.loc["all"] = table.sum(skipna=False)
    print(f"params.yaml is sound; scale {scale} on {workers.place(device)}:")
    print(table.to_string(float_format="{:,.0f}".format, na_rep="unknown"))
    if left_out := [
        name for name, plan in plans.experiments.items() if not plan.members
    ]:
        others = " ".join(
            f"evaluate@{name}" for name in plans.experiments if name not in left_out
        )
        notice(
            f"scale {scale} leaves {', '.join(left_out)} out; `dvc repro {others}` runs the rest"
        )
    documents = {"images": plans.images, "nads": plans.nads}
    with artifacts.output(artifacts.PLAN) as folder:
        for name, plan in (documents | plans.experiments).items():
            artifacts.write_json(folder / f"{name}.json", dataclasses.asdict(plan))
        machine = {"device": plans.device, "engine": plans.engine}
        artifacts.write_json(folder / "machine.json", machine)
        (folder / "params.sha256").write_text(digest)


if __name__ == "__main__":
    with one_sentence():
        command.parser(__doc__, "plan").parse_args()
        main()
